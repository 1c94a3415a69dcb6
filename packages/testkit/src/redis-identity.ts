import { Redis } from "ioredis";

/** Lends a connection to Redis; whatever happens to it is an error of `work`. */
export async function withRedis<Result>(url: string, work: (redis: Redis) => Promise<Result>): Promise<Result> {
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1, retryStrategy: () => null });
  redis.on("error", () => undefined);
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

/** What the server at this URL calls itself: drawn anew whenever one starts. */
export async function runIdOf(url: string): Promise<string> {
  const info = await withRedis(url, (redis) => redis.info("server"));
  return /^run_id:(\w+)/m.exec(info)?.[1] ?? "";
}
