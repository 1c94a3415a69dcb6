/** The duties of a scheduler for one job: a tick that hints at a night, a loop that catches up on nights, one that mends the queue. */
import type { Config } from "@nightwriter/config";
import { Fault } from "@nightwriter/core";
import { SqlFault } from "@nightwriter/database";
import type { JobFaultCode } from "@nightwriter/job";
import { catchUp } from "./catch-up.ts";
import { startCronHint } from "./cron-hint.ts";
import type { Duty } from "./duty.ts";
import { hintedNight } from "./hinted-night.ts";
import { startLoop } from "./loop.ts";
import { mendQueue } from "./mend-queue.ts";

export interface Duties {
  /** Begins none any more; waits for the one under way. */
  stop(): Promise<void>;
}

export interface DutiesOptions {
  readonly config: Pick<Config, "catchUpIntervalMs" | "reconcileIntervalMs">;
  readonly duty: Duty;
  /** Asked before each. A duty that is left out is done in another round, or by whoever leads. */
  readonly mayBegin: () => boolean;
  /** Called with a bug, which nobody can handle, and when another build's source query is in force; must end the process. */
  readonly crash: (bug: unknown) => void;
}

/** Starts them, the first catch-up and the first mending at once. */
export function startDuties({ config, duty, mayBegin, crash }: DutiesOptions): Duties {
  // One duty at a time: a reconciler beside an enqueuer would find missing what is about to come.
  let before: Promise<void> = Promise.resolve();
  const attempt = async (name: string, work: () => Promise<void>): Promise<void> => {
    const begin = async (): Promise<void> => {
      if (mayBegin()) await work();
    };
    // What failed is tried again: by the loop itself in its next round, for the hint by the catch-up.
    before = before.then(begin).catch((error: unknown) => {
      if (isBug(error) || isReplaced(error)) crash(error);
      duty.logger.error({ duty: name, err: error }, "duty failed; will be tried again");
    });
    return before;
  };
  const loop = (name: string, everyMs: number, work: () => Promise<void>) =>
    startLoop({ everyMs, random: Math.random, work: () => attempt(name, work) });
  const started = [
    startCronHint(duty, (tickedAt) => attempt("cron hint", () => hintedNight(duty, tickedAt))),
    loop("catch-up", config.catchUpIntervalMs, () => catchUp(duty)),
    loop("mend queue", config.reconcileIntervalMs, () => mendQueue(duty)),
  ];
  return {
    async stop() {
      await Promise.all(started.map((each) => each.stop()));
    },
  };
}

/** Not the outside world's fault: our own error, also where it crossed the driver, which calls each one a SqlFault. */
function isBug(error: unknown): boolean {
  if (error instanceof SqlFault) return error.code === "bug" && error.sqlstate === undefined;
  return !(error instanceof Fault);
}

/** Another build's source query is in force: no later round of this process could plan by it. */
function isReplaced(error: unknown): boolean {
  const code: JobFaultCode = "query_version_differs";
  return error instanceof Fault && error.code === code;
}
