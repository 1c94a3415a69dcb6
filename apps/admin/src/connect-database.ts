import type { Config } from "@nightwriter/config";
import { Fault, type Logger } from "@nightwriter/core";
import { assertServerSupported, type Database, openDatabase, SqlFault } from "@nightwriter/database";
import { redactUrl } from "@nightwriter/observability";

export interface ConnectDatabaseOptions {
  readonly config: Config;
  /** Shown in pg_stat_activity behind `nightwriter`. */
  readonly verb: string;
  readonly logger: Logger;
  /** For statements that take as long as they take: no timeouts. Default: the configured ones. */
  readonly patient?: boolean;
}

const noDatabase = "3D000";

/** Opens the database in DATABASE_URL and proves that it can be worked on. Throws a Fault that says what mends it. */
export async function connectDatabase({ config, verb, logger, patient }: ConnectDatabaseOptions): Promise<Database> {
  const timeouts =
    patient === true
      ? { statementTimeoutMs: 0, lockTimeoutMs: 0 }
      : { statementTimeoutMs: config.statementTimeoutMs, lockTimeoutMs: config.lockTimeoutMs };
  const database = openDatabase({
    url: config.databaseUrl,
    applicationName: `nightwriter ${verb}`,
    max: config.databasePoolSize,
    ...timeouts,
    logger,
  });
  try {
    await assertServerSupported(database, (text) => logger.warn({}, text));
    return database;
  } catch (error) {
    await database.close();
    throw error instanceof SqlFault && error.sqlstate === noDatabase ? missing(config.databaseUrl, error) : error;
  }
}

function missing(url: string, cause: SqlFault): Fault {
  const name = decodeURIComponent(URL.parse(url)?.pathname.slice(1) ?? "");
  return new Fault(
    "database_missing",
    `database ${name}: does not exist at ${redactUrl(url)}; create it with createdb, then run: nightwriter migrate`,
    { details: { database: name }, cause },
  );
}
