/** The servers of one run, and the ledgers on them: nights of history, applied, with statistics up to date. */
import { type Database, openDatabase } from "@nightwriter/database";
import { ensureServer, type PostgresService, startPostgres, startRedis } from "@nightwriter/services";
import { Redis } from "ioredis";
import { allowHugePages } from "./huge-pages.ts";
import { addRestaurants, finishNight, type Ledger, openLedger, planNight } from "./ledger.ts";
import type { Servers } from "./machine.ts";
import type { Progress } from "./progress.ts";
import type { Scale } from "./scale.ts";
import { setBasedWrite } from "./set-based-write.ts";

export interface Stage extends AsyncDisposable {
  readonly scale: Scale;
  readonly progress: Progress;
  /** Pairs to be measured. */
  readonly pairCount: number;
  readonly redisUrl: string;
  readonly servers: Servers;
  /** `keyCount` restaurants and `historyDays` nights of theirs. */
  readonly ordinary: Ledger;
  /** The same with `verifiedDays` nights; made at its first call. */
  verified(): Promise<Ledger>;
  /** `manyKeyCount` restaurants and one night of theirs; made at its first call. */
  grown(): Promise<Ledger>;
}

export type StageOptions = Pick<Stage, "scale" | "progress" | "pairCount">;

/** Seconds that the servers take to start. */
export const serverSeconds = 5;

/** Seconds that a million sales take to be recorded, on an idle machine. */
const secondsPerMillionSales = 12;

/** How long making the ledgers takes, for the estimate. */
export function stageSeconds(scale: Scale): { ordinary: number; verified: number; grown: number } {
  const seconds = (keys: number, nights: number): number =>
    Math.ceil((keys * nights * scale.salesPerKey * secondsPerMillionSales) / 1_000_000);
  return {
    ordinary: seconds(scale.keyCount, scale.historyDays),
    verified: seconds(scale.keyCount, scale.verifiedDays - scale.historyDays),
    grown: seconds(scale.manyKeyCount, 1),
  };
}

/**
 * Starts PostgreSQL and Redis, and makes the ordinary ledger. fsync is on, and so is everything else that makes commits
 * durable. The buffers hold the data, in huge pages where the kernel lets us, as a server's would that is bought for them;
 * checkpoints come by volume, and Redis does not rewrite its log, so that not one of the two sides alone meets such a thing.
 */
export async function openStage(options: StageOptions): Promise<Stage> {
  const { scale, progress } = options;
  await using started = new AsyncDisposableStack();
  progress.begin("servers", serverSeconds);
  await ensureServer("redis");
  const redis = started.use(await startRedis({ args: ["--auto-aof-rewrite-percentage", "0"] }));
  const postgres = started.use(await startServer(scale));
  const admin = started.use(
    openDatabase({ url: postgres.url, applicationName: "bench", max: 1, statementTimeoutMs: 0 }),
  );
  const urlOf = (name: string): string => {
    const url = new URL(postgres.url);
    url.pathname = `/${name}`;
    return url.href;
  };
  const create = async (name: string, template = "template1"): Promise<string> => {
    // Copies files instead of logging each page: the copy is made of what the checkpoint in front of it wrote.
    await command(admin, `create database ${name} template ${template} strategy file_copy`);
    return urlOf(name);
  };
  const seconds = stageSeconds(scale);
  const historyUrl = await create("history");
  {
    await using history = await openLedger(historyUrl);
    await addRestaurants(history, scale.keyCount);
    await addHistory(history, { scale, progress, nights: scale.historyDays, seconds: seconds.ordinary });
  }
  const ordinary = started.use(await openLedger(await create("ordinary", "history"), scale.historyDays));
  const resources = started.move();
  return {
    ...options,
    redisUrl: redis.url,
    servers: { ...(await describePostgres(admin)), redis: await redisVersion(redis.url) },
    ordinary,
    verified: async () => {
      const ledger = resources.use(await openLedger(await create("verified", "history"), scale.historyDays));
      const nights = scale.verifiedDays - scale.historyDays;
      await addHistory(ledger, { scale, progress, nights, seconds: seconds.verified });
      return ledger;
    },
    grown: async () => {
      const ledger = resources.use(await openLedger(await create("grown")));
      await addRestaurants(ledger, scale.manyKeyCount);
      await addHistory(ledger, { scale, progress, nights: 1, seconds: seconds.grown });
      return ledger;
    },
    [Symbol.asyncDispose]: async () => resources.disposeAsync(),
  };
}

async function startServer({ buffersMb }: Scale): Promise<PostgresService> {
  await using _allowed = await allowHugePages(buffersMb);
  return await startPostgres({
    settings: { shared_buffers: `${buffersMb}MB`, max_wal_size: "4GB", checkpoint_timeout: "1h" },
  });
}

interface HistoryOptions extends Pick<Stage, "scale" | "progress"> {
  readonly nights: number;
  /** How long all of it takes, for the estimate. */
  readonly seconds: number;
}

async function addHistory(ledger: Ledger, { scale, progress, nights, seconds }: HistoryOptions): Promise<void> {
  for (let night = 1; night <= nights; night++) {
    progress.begin(`history: night ${night} of ${nights}`, seconds / nights);
    const planned = await planNight(ledger, { salesPerKey: scale.salesPerKey });
    await setBasedWrite(ledger, planned);
    await finishNight(ledger, planned);
  }
  await command(ledger.database, "vacuum analyze");
  await command(ledger.database, "checkpoint");
}

async function command(database: Database, text: string): Promise<void> {
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
