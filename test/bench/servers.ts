/** The servers that everything is measured on. */
import { type Database, openDatabase } from "@nightwriter/database";
import { ensureServer, type PostgresService, startPostgres, startRedis } from "@nightwriter/services";
import { Redis } from "ioredis";
import { allowHugePages } from "./huge-pages.ts";
import type { Servers } from "./machine.ts";
import type { Scale } from "./scale.ts";

export interface BenchServers extends AsyncDisposable {
  readonly redisUrl: string;
  readonly versions: Servers;
  /** Makes a database, by default an empty one, and returns its address. Nobody may be connected to the template. */
  create(name: string, template?: string): Promise<string>;
}

/**
 * Starts PostgreSQL and Redis. fsync is on, and so is everything else that makes commits durable. The buffers hold the data, in
 * huge pages where the kernel lets us, as a server's would that is bought for them; checkpoints come by volume, and Redis
 * does not rewrite its log, so that not one of the two sides alone meets such a thing.
 */
export async function openServers(scale: Pick<Scale, "buffersMb">): Promise<BenchServers> {
  await using started = new AsyncDisposableStack();
  await ensureServer("redis");
  const redis = started.use(await startRedis({ args: ["--auto-aof-rewrite-percentage", "0"] }));
  const postgres = started.use(await startServer(scale));
  const admin = started.use(
    openDatabase({ url: postgres.url, applicationName: "bench", max: 1, statementTimeoutMs: 0 }),
  );
  const versions = { ...(await describePostgres(admin)), redis: await redisVersion(redis.url) };
  const running = started.move();
  return {
    redisUrl: redis.url,
    versions,
    create: async (name, template = "template1") => {
      // Copies files instead of logging each page: the copy is made of what the checkpoint in front of it wrote.
      await command(admin, `create database ${name} template ${template} strategy file_copy`);
      const url = new URL(postgres.url);
      url.pathname = `/${name}`;
      return url.href;
    },
    [Symbol.asyncDispose]: async () => running.disposeAsync(),
  };
}

async function startServer({ buffersMb }: Pick<Scale, "buffersMb">): Promise<PostgresService> {
  await using _allowed = await allowHugePages(buffersMb);
  return await startPostgres({
    settings: { shared_buffers: `${buffersMb}MB`, max_wal_size: "4GB", checkpoint_timeout: "1h" },
  });
}

/** Runs one statement. Throws SqlFault. */
export async function command(database: Database, text: string): Promise<void> {
  await database.session((session) => session.query(text));
}

async function describePostgres(database: Database): Promise<Omit<Servers, "redis">> {
  const [row] = await database.session((session) =>
    session.query<{ version: string; huge: string }>(
      "select current_setting('server_version') as version, current_setting('huge_pages_status') as huge",
    ),
  );
  return { postgres: row?.version ?? "unknown", hugePages: row?.huge === "on" };
}

async function redisVersion(url: string): Promise<string> {
  const client = new Redis(url);
  const info = await client.info("server");
  await client.quit();
  return /^redis_version:(\S+)/m.exec(info)?.[1] ?? "unknown";
}
