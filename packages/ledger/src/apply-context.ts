import type { Logger } from "@nightwriter/core";
import type { Database } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import type { Term } from "@nightwriter/partition";

/** In whose name items are applied. */
export interface ApplyContext {
  readonly database: Database;
  readonly job: Job;
  /** The term under which the partition of all the items is held. */
  readonly term: Term;
  /** Who writes: stands in each entry and attempt. */
  readonly worker: string;
  readonly logger: Logger;
  /**
   * Asked before each write of a call, of which there may be many: whether another may be sent. What was not written when it
   * says no is a `conflict`. Default: always.
   */
  readonly mayWrite?: () => boolean;
}
