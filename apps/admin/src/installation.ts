/** What most verbs work on: the database that the environment names, one job in it, and, if need be, its queues. */
import { type Config, loadConfig } from "@nightwriter/config";
import type { Logger } from "@nightwriter/core";
import { assertSchemaCompatible, type Database, startLockWatch } from "@nightwriter/database";
import { assertCurrent, ensureJob, findDifference, getJob, type Job, type JobDefinition } from "@nightwriter/job";
import type { PartitionQueue } from "@nightwriter/queue";
import { assertUnclaimed } from "./claims/assert-unclaimed.ts";
import { connectDatabase } from "./connect-database.ts";
import { getDefinition } from "./jobs.ts";
import { openLogger } from "./open-logger.ts";
import type { Terminal } from "./terminal.ts";

export interface InstallationOptions {
  /** Shown in pg_stat_activity and in the queue's client list. */
  readonly verb: string;
  readonly jobName: string;
  /**
   * - `look`, the default: nothing is written, and any checkout may do it. A job that is not there is one that has done nothing.
   * - `change`: the job's row is made if it is missing.
   * - `plan`: that, and this checkout's source query must be the one in force.
   */
  readonly purpose?: "look" | "change" | "plan";
  /** For statements that may take long: no timeouts. */
  readonly patient?: boolean;
  /** Default: what the environment says. */
  readonly config?: Config;
}

export interface Installation extends AsyncDisposable {
  readonly config: Config;
  readonly logger: Logger;
  readonly database: Database;
  readonly job: Job;
  /** Connects to the queue's store, once. Throws QueueFault; InstallationFault where another installation uses the prefix. */
  queues(): Promise<JobQueues>;
}

/** The queues of the job's partitions. */
export interface JobQueues {
  partition(partition: number): PartitionQueue;
}

/** Opens what the environment names, or throws the Fault that says what mends it: a wrong setting, an unknown job, an old schema. */
export async function openInstallation(terminal: Terminal, options: InstallationOptions): Promise<Installation> {
  const definition = getDefinition(options.jobName);
  const config = options.config ?? loadConfig();
  const logger = openLogger(terminal, config);
  await using opened = new AsyncDisposableStack();
  const { verb, patient = false } = options;
  const database = opened.use(await connectDatabase({ config, verb, logger, patient }));
  await assertSchemaCompatible(database);
  const { purpose = "look" } = options;
  const job = await openJob(database, definition, purpose);
  const difference = findDifference(job);
  if (difference !== undefined && purpose === "look") terminal.note(`${difference}; only looking`);
  const connect = async (): Promise<JobQueues> => {
    // Loaded when it is needed: most verbs never ask the queue, and its drivers take longer to load than they take to answer.
    const { connectQueues } = await import("@nightwriter/queue");
    const { queueUrl: url, queuePrefix: prefix, queuePoolSize: poolSize } = config;
    const applicationName = `nightwriter ${verb}`;
    const queues = running.use(
      await connectQueues({ url, prefix, applicationName, logger, poolSize, watchLocks: startLockWatch }),
    );
    await assertUnclaimed({ config, database, logger, slots: [queues.claimSlot] });
    return { partition: (partition) => queues.partition(job.definition.name, partition) };
  };
  let connected: Promise<JobQueues> | undefined;
  const running = opened.move();
  return {
    config,
    logger,
    database,
    job,
    queues: async () =>
      (connected ??= connect().catch((error: unknown) => {
        connected = undefined;
        throw error;
      })),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

async function openJob(
  database: Database,
  definition: JobDefinition,
  purpose: NonNullable<InstallationOptions["purpose"]>,
): Promise<Job> {
  if (purpose === "look") return getJob(database, definition);
  const job = await ensureJob(database, definition);
  if (purpose === "plan") assertCurrent(job);
  return job;
}
