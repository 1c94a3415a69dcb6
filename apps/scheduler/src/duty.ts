/** What every duty of a scheduler works with, for one job. */
import type { Logger } from "@nightwriter/core";
import type { Database } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import type { ItemQueues } from "@nightwriter/run";

export interface Duty {
  readonly job: Job;
  readonly database: Database;
  /** One more connection, whose statements may take as long as a plan over a long history does. */
  readonly planner: Database;
  readonly queues: ItemQueues;
  /** How many days the catch-up looks back. */
  readonly catchUpDays: number;
  readonly logger: Logger;
}
