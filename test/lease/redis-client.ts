/** A look at a Redis past the store of leases. */
import { setTimeout } from "node:timers/promises";
import type { RedisService } from "@nightwriter/services";
import { Redis } from "ioredis";

export class LookingClient extends Redis implements AsyncDisposable {
  /** The commands that the server was sent by others while `work` ran, each as its words. What scripts call is left out. */
  async monitored(work: () => Promise<void>): Promise<readonly (readonly string[])[]> {
    const commands: (readonly string[])[] = [];
    const monitor = await this.monitor();
    const { promise: seen, resolve } = Promise.withResolvers<void>();
    monitor.on("monitor", (_time, words: string[], source: string) => {
      if (words[1] === "that is all") resolve();
      else if (source !== "lua") commands.push(words);
    });
    try {
      await work();
      await this.echo("that is all");
      await Promise.race([seen, setTimeout(10_000, undefined, { ref: false })]);
    } finally {
      monitor.disconnect();
    }
    return commands;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.disconnect();
  }
}

/** Connected, and gone when it is disposed of; it never connects again by itself. */
export async function redisClient(url: string): Promise<LookingClient> {
  const client = new LookingClient(url, { lazyConnect: true, retryStrategy: () => null });
  client.on("error", () => undefined);
  await client.connect();
  return client;
}

/** Returns when `isSo`; throws after a minute. For set-ups, outside of tests. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`after a minute it is not so: ${String(isSo)}`);
    await setTimeout(50);
  }
}

/** Returns when the replica of a primary has all that the primary has. */
export async function copied(primary: RedisService): Promise<void> {
  await until(async () => {
    const info = await primary.ask("info", "replication");
    const [, offset] = /slave0:.*state=online,offset=(\d+)/.exec(info) ?? [];
    return offset !== undefined && offset === /master_repl_offset:(\d+)/.exec(info)?.[1];
  });
}
