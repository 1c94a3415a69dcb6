import type { Config } from "@nightwriter/config";
import type { Logger } from "@nightwriter/core";
import { type Database, ensureRoles, openDatabase } from "@nightwriter/database";
import { schemaLists } from "@nightwriter/restaurant-totals";

/**
 * Makes the roles and grants each what it needs, also in a queue in Postgres: that has tables of its own, which the first process to
 * connect makes. It is made here, since no other role may. Says in one line what is there.
 */
export async function makeRoles(
  database: Database,
  { config, logger }: { config: Config; logger: Logger },
): Promise<string> {
  await ensureRoles(database, { lists: schemaLists });
  if (/^postgres(ql)?:/.test(config.queueUrl)) await giveQueue(config, logger);
  return "roles made: nightwriter_migrator, _scheduler, _worker, _operator, _auditor";
}

async function giveQueue({ queueUrl: url, queuePrefix: prefix }: Config, logger: Logger): Promise<void> {
  const { connectQueues, queueSchema } = await import("@nightwriter/queue");
  const queues = await connectQueues({ url, prefix, applicationName: "nightwriter migrate", logger, poolSize: 1 });
  await queues.close();
  await using database = openDatabase({ url, applicationName: "nightwriter migrate", max: 1, logger });
  await ensureRoles(database, { queueSchema: queueSchema(prefix) });
}
