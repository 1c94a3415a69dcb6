import type { ErrorReport } from "./error-report.ts";
import type { WatchLocks } from "./lock-watch.ts";

/** Where the queue is and who asks, with every default filled in. */
export interface QueueConnection {
  readonly url: string;
  readonly prefix: string;
  /** Gets every error of the store and of the connections to it. */
  readonly report: ErrorReport;
  readonly applicationName: string;
  readonly poolSize: number;
  readonly watchLocks?: WatchLocks;
}
