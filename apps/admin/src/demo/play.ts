/** The play: a night is sold, run and disturbed, and run again. */
import { invariant } from "@nightwriter/core";
import { enqueueDue, ensureNightlyRun, ensureRequestedRun, type Run, type RunStatus } from "@nightwriter/run";
import { databaseNow } from "@nightwriter/schedule";
import { untilAborted } from "../interrupt.ts";
import { statusesOf, waitForRuns } from "../nights/wait-for-runs.ts";
import { plural } from "../output/format.ts";
import { startProgress } from "../output/progress.ts";
import type { Terminal } from "../terminal.ts";
import { firstApplied } from "./ledger-facts.ts";
import { type Recording, recordLateSales, recordNight, type Sold } from "./record-sales.ts";
import type { Stage } from "./stage.ts";
import { type Struck, strikeHalfWay } from "./strike.ts";

const SEED = "a night in five towns";
const LATE_RESTAURANTS = 25;

export interface Play {
  readonly terminal: Terminal;
  readonly stage: Stage;
  readonly restaurants: number;
  /** Tells a person what happens. */
  readonly tell: (line: string) => void;
  /** Aborted when somebody has had enough, or a process ends that should not. */
  readonly signal: AbortSignal;
}

/** What happened, for the checks. */
export interface Played {
  /** What was sold before the night began. */
  readonly sold: Sold;
  readonly night: RunStatus;
  /** Undefined when the night went by too fast to kill a worker in it. */
  readonly struck: Struck | undefined;
  /** What was sold by restaurants whose item had been applied. */
  readonly late: Sold;
  /** Items that were still due when the late sales had been recorded. */
  readonly dueAfterLate: number;
  readonly rerun: RunStatus;
}

export async function play(playing: Play): Promise<Played> {
  const { stage, restaurants, tell, signal } = playing;
  const { installation, folder } = stage;
  const businessDate = await yesterday(installation);
  const recording: Recording = { restaurants, businessDate, seed: SEED, folder };

  const sold = await recordNight(installation, recording);
  tell(`recorded ${plural(sold.sales, "sale")} of ${plural(restaurants, "restaurant")} in five towns`);
  await Promise.race([stage.workersReady, untilAborted(signal)]);
  signal.throwIfAborted();
  const night = await playNight(playing, recording);
  tell(`the night is done: ${plural(night.night.applied, "item")} applied, those in flight in the killed worker too`);
  const rerun = await playRerun(playing, businessDate);
  tell(`the night was run again: ${plural(rerun.applied, "item")} applied`);
  return { sold, ...night, rerun };
}

/** Runs the night; meanwhile a worker is killed, and then sales come late for restaurants that are done already. */
async function playNight(playing: Play, recording: Recording): Promise<Omit<Played, "sold" | "rerun">> {
  const { stage, tell } = playing;
  const { installation } = stage;
  const { run } = await ensureNightlyRun(installation.database, installation.job, recording.businessDate);
  tell(`the night of ${recording.businessDate.toString()} begins: run ${run.id}`);
  const [night, trouble] = await settle(playing, run, async () => {
    const struck = await strikeHalfWay(installation, {
      workers: stage.workers,
      items: recording.restaurants,
      signal: playing.signal,
    });
    if (struck !== undefined) playing.tell(`killed ${struck.worker} with SIGKILL in the middle of its work`);
    const done = await firstApplied(installation.database, run.id, LATE_RESTAURANTS);
    const late = await recordLateSales(installation, recording, done);
    playing.tell(`recorded ${plural(late.sales, "late sale")} of restaurants that were done already`);
    const [after] = await statusesOf(installation, [run]);
    return { struck, late, dueAfterLate: after?.due ?? 0 };
  });
  return { night, ...trouble };
}

async function playRerun(playing: Play, businessDate: Temporal.PlainDate): Promise<RunStatus> {
  const { database, job } = playing.stage.installation;
  const request = { kind: "rerun", businessDate, requestId: "after the late sales" } as const;
  const { run } = await ensureRequestedRun(database, job, request);
  const [status] = await settle(playing, run, async () => undefined);
  return status;
}

/** Enqueues a run and waits for it with progress, while something else happens. */
async function settle<Result>(
  { terminal, stage, signal }: Play,
  run: Run,
  meanwhile: () => Promise<Result>,
): Promise<[RunStatus, Result]> {
  const { installation } = stage;
  const queues = await installation.queues();
  const progress = startProgress(terminal, { label: "items settled" });
  const onLook = (statuses: readonly RunStatus[]): void => {
    for (const { total, due } of statuses) progress.update(total - due, total);
  };
  try {
    // What happens meanwhile begins with the first item: fast workers are far on when the last one is enqueued.
    const waiting = enqueueDue({ ...installation, queues }, run).then(async () =>
      waitForRuns(installation, [run], { signal, note: terminal.note, onLook }),
    );
    const [[status], result] = await Promise.all([waiting, meanwhile()]);
    invariant(status !== undefined, "a run that was waited for has a status");
    return [status, result];
  } finally {
    progress.stop();
  }
}

async function yesterday({ database, job }: Stage["installation"]): Promise<Temporal.PlainDate> {
  const now = await databaseNow(database);
  return now.toZonedDateTimeISO(job.definition.timeZone).toPlainDate().subtract({ days: 1 });
}
