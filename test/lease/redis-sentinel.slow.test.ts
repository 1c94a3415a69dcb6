import { silentLogger } from "@nightwriter/core";
import { openRedisLeases } from "@nightwriter/lease-redis";
import { startRedis, startSentinels, startTcpProxy } from "@nightwriter/services";
import { describeLeaseStore, type LeaseServer } from "./contract.ts";

/** The sentinels call the proxy the primary, and are too patient to look for another one. */
async function start(): Promise<LeaseServer> {
  await using started = new AsyncDisposableStack();
  const { port, url } = started.use(await startRedis());
  const { hold, cut, resume, urlFor } = started.use(await startTcpProxy({ port }));
  const sentinels = started.use(
    await startSentinels({ primaryUrl: urlFor(url), replicas: 0, count: 1, downAfterMs: 60_000 }),
  );
  const running = started.move();
  return {
    open: (options) =>
      openRedisLeases({
        ...options,
        url: sentinels.url,
        applicationName: "leases-of-a-test",
        logger: silentLogger,
      }),
    hold,
    cut,
    resume,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

describeLeaseStore("Redis known to sentinels", start);
