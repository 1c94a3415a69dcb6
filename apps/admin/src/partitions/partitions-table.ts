import { formatCount, formatDuration, formatInstant, plural } from "../output/format.ts";
import { renderTable } from "../output/table.ts";
import type { LeaseLook } from "./lease-look.ts";
import type { PartitionStatus, PartitionsStatus } from "./partition-status.ts";

/** One line on the whole, then one per partition, then what is not in order. */
export function partitionsTable({ workers, leases, queueFault, partitions }: PartitionsStatus): string {
  const rows = partitions.map((status) => [
    String(status.partition),
    holderText(status, leases),
    status.worker === undefined ? "" : `${status.worker.host} ${status.worker.pid}`,
    status.fencingToken.toString(),
    status.since === undefined ? "" : formatInstant(status.since),
    status.leaseLeftMs === undefined ? "" : formatDuration(status.leaseLeftMs),
    formatCount(status.due),
    status.queue === undefined ? "?" : formatCount(status.queue.waiting + status.queue.delayed),
    status.queue === undefined ? "?" : formatCount(status.queue.active),
    status.lastEntryAt === undefined ? "" : formatInstant(status.lastEntryAt),
  ]);
  const abandoned = partitions.filter(({ isAbandoned }) => isAbandoned);
  const forgotten = partitions.filter(({ isForgotten }) => isForgotten);
  return [
    `${plural(partitions.length, "partition")}, ${plural(workers.length, "live worker")}, ${leasesText(leases)}`,
    renderTable(columns, rows),
    ...(queueFault === undefined ? [] : [`the queue is of no use now: ${queueFault}`]),
    ...(abandoned.length === 0 ? [] : [abandonedText(abandoned, workers.length)]),
    ...(forgotten.length === 0 || queueFault !== undefined ? [] : [forgottenText(forgotten)]),
  ].join("\n\n");
}

const columns = [
  { title: "partition", align: "right" },
  { title: "holder" },
  { title: "host, pid" },
  { title: "token", align: "right" },
  { title: "since" },
  { title: "lease left", align: "right" },
  { title: "due", align: "right" },
  { title: "waiting", align: "right" },
  { title: "active", align: "right" },
  { title: "last entry" },
] as const;

function holderText({ holder, worker }: PartitionStatus, { kind }: LeaseLook): string {
  if (kind === "none") return "every worker";
  if (holder === undefined) return "nobody";
  return worker === undefined ? `${holder} (not alive)` : holder;
}

function leasesText(leases: LeaseLook): string {
  switch (leases.kind) {
    case "none":
      return "leases switched off: every worker consumes every partition";
    case "away":
      return `lease store away, holders as their terms say: ${leases.reason}`;
    case "seen":
      return `leases in ${leases.store}`;
  }
}

function forgottenText(forgotten: readonly PartitionStatus[]): string {
  const numbers = forgotten.map(({ partition }) => partition).join(", ");
  return (
    `items are due and not in the queue in ${forgotten.length === 1 ? "partition" : "partitions"} ${numbers}; ` +
    "a scheduler puts them back within RECONCILE_INTERVAL_MS: start one with: nightwriter scheduler"
  );
}

function abandonedText(abandoned: readonly PartitionStatus[], workers: number): string {
  const numbers = abandoned.map(({ partition }) => partition).join(", ");
  const waits = abandoned.length === 1 ? "work waits in partition" : "work waits in partitions";
  const remedy =
    workers === 0
      ? "start a worker with: nightwriter worker"
      : "a live worker takes them within the length of a lease and two seconds";
  return `${waits} ${numbers}, which no live worker holds; ${remedy}`;
}
