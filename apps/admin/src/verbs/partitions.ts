import { setTimeout } from "node:timers/promises";
import { staleAfterMs } from "@nightwriter/fleet";
import { getJob } from "@nightwriter/job";
import { createLogUpdate } from "log-update";
import { type Answer, answer } from "../answer.ts";
import { openInstallation } from "../installation.ts";
import { watchInterrupt } from "../interrupt.ts";
import { watchLeases } from "../partitions/lease-look.ts";
import { isInOrder, lookAtPartitions, type PartitionsStatus } from "../partitions/partition-status.ts";
import { partitionsDocument } from "../partitions/partitions-document.ts";
import { partitionsTable } from "../partitions/partitions-table.ts";
import { lookAtQueue } from "../partitions/queue-look.ts";
import { canRedraw, type Terminal } from "../terminal.ts";

const REFRESH_EVERY_MS = 1_000;

export interface PartitionsOptions {
  readonly job: string;
  readonly watch: boolean;
}

/** Says how a job's partitions stand; with `watch` again and again, until somebody has seen enough. */
export async function showPartitions(terminal: Terminal, { job: jobName, watch }: PartitionsOptions): Promise<Answer> {
  await using installation = await openInstallation(terminal, { verb: "partitions", jobName });
  const { config, database } = installation;
  let { job } = installation;
  await using leases = watchLeases(config);
  const look = async (): Promise<PartitionsStatus> => {
    // Whoever watches from before the first night on sees the job come.
    if (job.id === 0) job = await getJob(database, job.definition);
    const seen = job;
    return lookAtPartitions({
      database,
      job: seen,
      queue: (partitionCount) => lookAtQueue(() => installation.queues(), partitionCount),
      reconcileMs: config.reconcileIntervalMs,
      leases: (partitionCount) => leases.look(seen, partitionCount),
      staleMs: staleAfterMs(config.leaseMs),
    });
  };
  const status = watch ? await watchPartitions(terminal, look) : await look();
  return answer({
    inOrder: isInOrder(status),
    document: partitionsDocument(jobName, status),
    text: partitionsTable(status),
  });
}

/** Refreshes a table on a terminal, and elsewhere tells of each partition that changes hands, until Ctrl-C. */
async function watchPartitions(terminal: Terminal, look: () => Promise<PartitionsStatus>): Promise<PartitionsStatus> {
  using interrupt = watchInterrupt();
  const table = canRedraw(terminal.stderr) ? createLogUpdate(terminal.stderr) : undefined;
  let before: PartitionsStatus | undefined;
  for (;;) {
    const status = await look();
    if (interrupt.signal.aborted) {
      table?.clear();
      table?.done();
      return status;
    }
    table?.(partitionsTable(status));
    if (table === undefined) for (const line of handOvers(before, status)) terminal.note(line);
    before = status;
    // Woken early by Ctrl-C, which ends the watch with one more look.
    await setTimeout(REFRESH_EVERY_MS, undefined, { signal: interrupt.signal }).catch(() => undefined);
  }
}

function handOvers(before: PartitionsStatus | undefined, { partitions }: PartitionsStatus): string[] {
  const holders = new Map(before?.partitions.map(({ partition, holder }) => [partition, holder]));
  return partitions
    .filter(({ partition, holder }) => !holders.has(partition) || holders.get(partition) !== holder)
    .map(
      ({ partition, holder = "nobody", fencingToken }) => `partition ${partition}: ${holder}, token ${fencingToken}`,
    );
}
