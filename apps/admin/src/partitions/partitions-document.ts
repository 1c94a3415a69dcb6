import type { PartitionStatus, PartitionsStatus } from "./partition-status.ts";

/** The answer for machines: instants as ISO 8601 texts, `null` where there is nothing. */
export function partitionsDocument(job: string, { workers, leases, queueFault, partitions }: PartitionsStatus): object {
  return {
    job,
    partitionCount: partitions.length,
    workers,
    leases: {
      state: leases.kind,
      store: leases.kind === "seen" ? leases.store : null,
      reason: leases.kind === "away" ? leases.reason : null,
    },
    queue: { state: queueFault === undefined ? "seen" : "unusable", reason: queueFault ?? null },
    partitions: partitions.map(partitionDocument),
  };
}

function partitionDocument(status: PartitionStatus): object {
  const { partition, holder, worker, fencingToken, since, leaseLeftMs, queue, due, lastEntryAt } = status;
  return {
    partition,
    holder: holder ?? null,
    alive: worker !== undefined,
    host: worker?.host ?? null,
    pid: worker?.pid ?? null,
    fencingToken,
    since: since ?? null,
    leaseLeftMs: leaseLeftMs ?? null,
    due,
    waiting: queue?.waiting ?? null,
    delayed: queue?.delayed ?? null,
    active: queue?.active ?? null,
    lastEntryAt: lastEntryAt ?? null,
    abandoned: status.isAbandoned,
    forgotten: status.isForgotten,
  };
}
