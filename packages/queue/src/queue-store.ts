/** What the rest of this package needs of a store. Two implementations: `redis-store.ts` and `postgres-store.ts`. */
import type { ClaimSlot } from "@nightwriter/installation";
import type { BackendFactory, IQueueBackend, KeepJobs, Queue } from "bullmq";
import type { ErrorReport } from "./error-report.ts";
import type { QueueItem } from "./queue-item.ts";

/** Where an item's job is. `missing`: the store has no job of that id: never added, lost, or finished and swept. */
export type QueueItemState = "missing" | PresentState;
export type PresentState = "waiting" | "delayed" | "active" | "completed" | "failed";

export type ItemQueue = Queue<QueueItem, null, string, QueueItem, null, string, IQueueBackend, object>;

export interface QueueStore {
  readonly kind: "redis" | "postgres";
  /** Kind and place, without credentials: `redis at cache:6379`. */
  readonly name: string;
  /** Key prefix of Redis; ignored by Postgres, where the schema takes its place. */
  readonly prefix: string;
  /** The one listener for errors of connections, queues and workers: what it has said once, it does not say again for each. */
  readonly report: ErrorReport;
  /** BullMQ's way to a store, over this store's own few connections. */
  readonly backend: BackendFactory<IQueueBackend, object>;
  readonly keepCompleted: KeepJobs;
  /** More jobs in flight per consumer than this do harm. */
  readonly concurrencyAtMost: number;
  /** The state of each job id in one consistent look; ids that are not in the answer are missing. */
  states(queue: ItemQueue, ids: readonly string[]): Promise<ReadonlyMap<string, PresentState>>;
  /** Jobs per state; what is not in the answer is 0. BullMQ's own count calls a paused queue's waiting jobs none on Postgres. */
  counts(queue: ItemQueue): Promise<ReadonlyMap<PresentState, number>>;
  /** Resolves when the store answers. */
  ping(): Promise<void>;
  /** Whose queues these are. To read it asks the store for what a night needs: that it answers, keeps jobs and takes writes. */
  readonly claimSlot: ClaimSlot;
  /** Ends every connection. The queues and workers on them must be closed before. */
  close(): Promise<void>;
}

/** The options of every BullMQ object here. Its `connection` is required by BullMQ and not looked at by our backends. */
export function bullOptions(store: QueueStore): { connection: object; prefix: string } {
  return { connection: {}, prefix: store.prefix };
}
