/** A build that is measured, as a process of its own: see ../programs/measured-build.ts. */
import { resolve } from "node:path";
import { Fault } from "@nightwriter/core";
import { type GuardedProcess, startGuarded } from "@nightwriter/services";
import type { Answered, Asked, MeasuredBuild } from "../programs/measured-build.ts";

const root = resolve(import.meta.dirname, "../../..");

export interface Measurer extends AsyncDisposable {
  /** Has the build do it once, and returns what a second brought. Throws a Fault if the process ends before it answers. */
  measure(asked: Asked): Promise<number>;
}

/** Starts the process and returns when its database is migrated to the build's own schema. Throws a Fault if it does not get so far. */
export async function startMeasurer(build: MeasuredBuild): Promise<Measurer> {
  let answer = Promise.withResolvers<number>();
  const program: GuardedProcess = await startGuarded({
    file: process.execPath,
    args: ["test/bench/programs/measured-build.ts"],
    folder: root,
    keepInput: true,
    environment: { MEASURED_BUILD: JSON.stringify(build) },
    log: (line, from) => {
      if (from === "stdout") answer.resolve((JSON.parse(line) as Partial<Answered>).rate ?? 0);
    },
  });
  const answered = async (): Promise<number> =>
    Promise.race([answer.promise, program.closed.then(() => ended(program))]);
  await answered();
  return {
    measure: async (asked) => {
      answer = Promise.withResolvers<number>();
      program.write(`${asked}\n`);
      return answered();
    },
    [Symbol.asyncDispose]: async () => program[Symbol.asyncDispose](),
  };

  function ended({ tail }: GuardedProcess): never {
    throw new Fault(
      "build_not_measured",
      `build ${build.root}: ended before it answered; it said\n${tail().join("\n")}`,
    );
  }
}
