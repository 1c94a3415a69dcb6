/**
 * Runs that are planned, put into the queue and, if wanted, waited for: what run, rerun and open have in common.
 *
 * Many nights are waited for a few at a time. A plan looks at what the runs that were unfinished at the last plan had left, so
 * a thousand unfinished nights would be looked at by each of a thousand plans.
 */
import { type EnsuredRun, enqueueDue, type LeftOut, type Run, type RunStatus, reconcile } from "@nightwriter/run";
import { type Answer, answer } from "../answer.ts";
import type { Installation } from "../installation.ts";
import { Interrupted, watchInterrupt } from "../interrupt.ts";
import { formatCount, plural } from "../output/format.ts";
import { type Progress, startProgress } from "../output/progress.ts";
import type { Terminal } from "../terminal.ts";
import { deltaByCurrency } from "./delta-by-currency.ts";
import { withLeftOut } from "./left-out-answer.ts";
import { interruptedSummary, runsText, summarize } from "./run-summary.ts";
import { statusDocument } from "./status-document.ts";
import { statusesOf, sum, waitForRuns } from "./wait-for-runs.ts";

const NIGHTS_AT_ONCE = 50;

/** A run that is there, and how many items were planned for it just now. */
export interface PlannedRun {
  readonly run: Pick<Run, "id">;
  readonly planned: number;
  /** Pairs that could not be looked at and were planned as they are. */
  readonly uncompared?: EnsuredRun["uncompared"];
  /** What it was asked for by name and does not have. Absent: it was not asked for by name. */
  readonly leftOut?: LeftOut;
}

export interface CarryOutOptions {
  /** Makes the runs, in this order. */
  readonly plans: readonly (() => Promise<PlannedRun>)[];
  /** Whether to wait until nothing of them is due any more. */
  readonly wait: boolean;
}

/** Answers with what was enqueued or, having waited, with how the runs ended. Ctrl-C ends the wait and leaves the runs going. */
export async function carryOut(
  terminal: Terminal,
  installation: Installation,
  options: CarryOutOptions,
): Promise<Answer> {
  const ensured: PlannedRun[] = [];
  const answered = await carryOutAll(terminal, installation, { ...options, ensured });
  const leftOut = ensured.find((each) => each.leftOut !== undefined)?.leftOut;
  return leftOut === undefined ? answered : await withLeftOut(answered, installation, leftOut);
}

async function carryOutAll(
  terminal: Terminal,
  installation: Installation,
  { plans, wait, ensured }: CarryOutOptions & Pick<Planning, "ensured">,
): Promise<Answer> {
  using interrupt = watchInterrupt();
  const beganMs = performance.now();
  const label = plans.length === 1 ? "items settled" : "nights done";
  const progress = startProgress(terminal, { label });
  const ended: RunStatus[] = [];
  try {
    for (let next = 0; next < plans.length; next += NIGHTS_AT_ONCE) {
      const window = plans.slice(next, next + NIGHTS_AT_ONCE);
      const runs = await planAndEnqueue(installation, window, { ensured, signal: interrupt.signal });
      if (!wait) continue;
      const onLook = (statuses: readonly RunStatus[]): void => show(progress, { statuses, done: next, plans });
      const { signal } = interrupt;
      ended.push(...(await waitForRuns(installation, runs, { signal, note: terminal.note, onLook })));
    }
    progress.stop();
  } catch (error) {
    progress.stop();
    if (!(error instanceof Interrupted)) throw error;
    return interruptedSummary(
      await statusesOf(
        installation,
        ensured.map(({ run }) => run),
      ),
      error,
    );
  }
  tellUncompared(terminal, ensured);
  const planned = sum(ensured, (each) => each.planned);
  if (!wait)
    return enqueued(
      await statusesOf(
        installation,
        ensured.map(({ run }) => run),
      ),
      planned,
    );
  const deltas = await deltaByCurrency(
    installation.database,
    installation.job,
    ended.map(({ run }) => run.id),
  );
  return summarize({ statuses: ended, planned, deltas, durationMs: performance.now() - beganMs });
}

type Planning = { readonly ensured: PlannedRun[]; readonly signal: AbortSignal };

/** Plans run by run, in order, and then enqueues what is due of them. Each is noted as soon as it is there. */
/** As many as a log would name. */
const TOLD = 20;

function tellUncompared({ note }: Terminal, ensured: readonly PlannedRun[]): void {
  const all = ensured.flatMap(({ uncompared = [] }) => uncompared);
  for (const { key, business_date, fault } of all.slice(0, TOLD)) {
    note(`${key} ${business_date}: planned without comparing, ${fault.message}; its write will park it`);
  }
  if (all.length > TOLD) note(`and ${plural(all.length - TOLD, "more pair")} without comparing`);
}

async function planAndEnqueue(
  installation: Installation,
  plans: CarryOutOptions["plans"],
  { ensured, signal }: Planning,
): Promise<PlannedRun["run"][]> {
  const context = { ...installation, queues: await installation.queues() };
  const runs: PlannedRun["run"][] = [];
  for (const plan of plans) {
    signal.throwIfAborted();
    const made = await plan();
    ensured.push(made);
    runs.push(made.run);
  }
  const [only] = runs;
  // Many small nights go into the queue together, partition by partition, instead of a few items at a time.
  if (runs.length === 1 && only !== undefined) await enqueueDue(context, only);
  else await reconcile(context);
  return runs;
}

type Shown = {
  readonly statuses: readonly RunStatus[];
  /** Nights of earlier windows. */
  readonly done: number;
  readonly plans: readonly unknown[];
};

function show(progress: Progress, { statuses, done, plans }: Shown): void {
  if (plans.length === 1) {
    const total = sum(statuses, (status) => status.total);
    progress.update(total - sum(statuses, ({ due }) => due), total);
  } else {
    progress.update(done + statuses.filter(({ due }) => due === 0).length, plans.length);
  }
}

function enqueued(statuses: readonly RunStatus[], planned: number): Answer {
  const due = sum(statuses, (status) => status.due);
  const [first] = statuses;
  const look =
    first === undefined ? "" : `\nlook at it with: nightwriter status --date ${first.run.businessDate.toString()}`;
  return answer({
    inOrder: true,
    document: { planned, due, runs: statuses.map(statusDocument) },
    text: `${runsText(statuses)}: ${plural(planned, "item")} planned, ${formatCount(due)} due and enqueued${look}`,
  });
}
