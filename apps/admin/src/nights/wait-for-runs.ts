/**
 * Waits until nothing of some runs is due any more. Whoever applies the items is somebody else, so all that can be done here
 * is to look, and to say what may be missing when nothing moves.
 */
import { setTimeout } from "node:timers/promises";
import { getPartitionCount } from "@nightwriter/job";
import { finishRuns, type ItemQueues, type Run, type RunStatus, reconcile, runStatus } from "@nightwriter/run";
import type { Installation } from "../installation.ts";

/** How long nothing may move before a person is told. */
const STILL_AFTER_MS = 5_000;
/** How long nothing may move before the queue is compared with what is due, as the scheduler does every so often. */
const MEND_AFTER_MS = 20_000;
const LOOK_EVERY_MS = 200;

export interface WaitOptions {
  /** Ends the wait with its reason. */
  readonly signal: AbortSignal;
  /** Tells a person that nothing moves, and why that may be. */
  readonly note: (line: string) => void;
  /** Called after each look. */
  readonly onLook: (statuses: readonly RunStatus[]) => Promise<void> | void;
}

/** Returns how the runs ended, in their order, once each item of theirs is applied, parked, paused or cancelled. */
export async function waitForRuns(
  installation: Installation,
  runs: readonly Pick<Run, "id">[],
  { signal, note, onLook }: WaitOptions,
): Promise<RunStatus[]> {
  const { database, job } = installation;
  const stillness = watchStillness(installation, note);
  for (;;) {
    const beganMs = performance.now();
    const statuses = await statusesOf(installation, runs);
    await onLook(statuses);
    if (statuses.every(({ due }) => due === 0)) {
      await finishRuns(database, job);
      return await statusesOf(installation, runs);
    }
    await stillness.look(sum(statuses, ({ due }) => due));
    // Looking at a million items takes a second or two: not all the time.
    const pauseMs = Math.max(LOOK_EVERY_MS, 3 * (performance.now() - beganMs));
    await setTimeout(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** How the runs stand, in their order. */
export async function statusesOf(
  { database, job }: Installation,
  runs: readonly Pick<Run, "id">[],
): Promise<RunStatus[]> {
  const statuses: RunStatus[] = [];
  for (const { id } of runs) statuses.push(...(await runStatus(database, job, { runId: id })));
  return statuses;
}

function watchStillness(
  installation: Installation,
  note: (line: string) => void,
): { look(due: number): Promise<void> } {
  let last = -1;
  let movedAtMs = performance.now();
  let told = false;
  return {
    async look(due) {
      const nowMs = performance.now();
      if (due !== last) {
        last = due;
        movedAtMs = nowMs;
        told = false;
      }
      const stillMs = nowMs - movedAtMs;
      if (stillMs < STILL_AFTER_MS) return;
      const queues = await installation.queues();
      if (!told && (await activeCount(installation, queues)) === 0) {
        note("nothing is being applied: no worker seems to be up; start one with: nightwriter worker");
        told = true;
      }
      if (stillMs < MEND_AFTER_MS) return;
      movedAtMs = nowMs;
      await reconcile({ ...installation, queues });
    },
  };
}

async function activeCount({ database, job }: Installation, queues: ItemQueues): Promise<number> {
  const partitions = Array.from({ length: await getPartitionCount(database, job) }, (_, partition) => partition);
  const counts = await Promise.all(partitions.map(async (partition) => queues.partition(partition).counts()));
  return sum(counts, ({ active }) => active);
}

/** The sum of one number of each. */
export function sum<Item>(items: readonly Item[], number: (item: Item) => number): number {
  return items.reduce((total, item) => total + number(item), 0);
}
