/** Who writes in a storm: a connection of this process, or a process of an earlier build. */
import { resolve } from "node:path";
import { silentLogger } from "@nightwriter/core";
import { type Database, openDatabase } from "@nightwriter/database";
import { applyItems, type Item, type ItemOutcome } from "@nightwriter/ledger";
import { readTerms, type Term } from "@nightwriter/partition";
import { type GuardedProcess, startGuarded } from "@nightwriter/services";
import type { OlderBuild } from "@nightwriter/testkit";
import type { Night } from "./night.ts";
import type { StormWriter, WriterAnswer } from "./programs/storm-writer.ts";
import { weatherproof } from "./weatherproof.ts";

export interface Writer extends AsyncDisposable {
  /** The outcomes, in the order of the batch. Undefined: it had no term to write under, and nothing was tried. */
  write(batch: readonly Item[]): Promise<readonly ItemOutcome["outcome"][] | undefined>;
}

/** Writes under the partition's term as it last read it, and reads it again when it is fenced. `spoil`: to be wrong on purpose. */
export function localWriter({ test, job }: Night, name: string, spoil: (database: Database) => Database): Writer {
  const own = openDatabase({ url: test.url, applicationName: "writer", max: 1 });
  const database = spoil(own);
  let term: Term | undefined;
  return {
    write: async (batch) => {
      term ??= (await weatherproof(async () => readTerms(own, job)))?.[0];
      if (term === undefined) return undefined;
      const outcomes = await applyItems({ database, job, term, worker: name, logger: silentLogger }, batch);
      if (outcomes.some(({ outcome }) => outcome === "fenced")) term = undefined;
      return outcomes.map(({ outcome }) => outcome);
    },
    [Symbol.asyncDispose]: async () => own.close(),
  };
}

/** The same in a process of the build. Rejects if it ends. */
export async function olderWriter({ test }: Night, name: string, { root }: OlderBuild): Promise<Writer> {
  const options: StormWriter = { root, databaseUrl: test.url, name };
  let answer = Promise.withResolvers<WriterAnswer>();
  const program: GuardedProcess = await startGuarded({
    file: process.execPath,
    args: [resolve(import.meta.dirname, "programs/storm-writer.ts")],
    keepInput: true,
    environment: { STORM_WRITER: JSON.stringify(options) },
    log: (line, from) => {
      if (from === "stdout") answer.resolve(JSON.parse(line) as WriterAnswer);
    },
  });
  const answered = async (): Promise<WriterAnswer> =>
    Promise.race([
      answer.promise,
      program.closed.then(() => Promise.reject(new Error(`${name}: has ended; it said\n${program.tail().join("\n")}`))),
    ]);
  await answered();
  return {
    write: async (batch) => {
      answer = Promise.withResolvers<WriterAnswer>();
      program.write(`${JSON.stringify(batch.map((item) => ({ ...item, runId: String(item.runId) })))}\n`);
      return (await answered()).outcomes;
    },
    [Symbol.asyncDispose]: async () => program[Symbol.asyncDispose](),
  };
}
