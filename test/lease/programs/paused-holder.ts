/**
 * A holder that looks whether its lease is its own, and is held up before it acts on what it saw. What it waits for blocks the
 * whole process, as a collection of garbage does, or a machine that is moved.
 */
import { readSync } from "node:fs";
import { silentLogger, systemClock } from "@nightwriter/core";
import { createLeaseKeeper, type Lease } from "@nightwriter/lease";
import { openRedlock } from "@nightwriter/lease-redis";

const [url = ""] = process.argv.slice(2);
await using store = await openRedlock({
  url,
  prefix: "test",
  ttlMs: 4_000,
  applicationName: "paused-holder",
  logger: silentLogger,
});
await using keeper = createLeaseKeeper({
  store,
  holder: "paused",
  marginMs: 200,
  clock: systemClock,
  random: Math.random,
  logger: silentLogger,
});
let lease: Lease | undefined;
while (lease === undefined) lease = await keeper.acquire("x").catch(() => undefined);
if (lease.leftMs() > 0) {
  process.stdout.write("holds the lease, and looks: it is mine\n");
  readSync(0, Buffer.alloc(6));
  process.stdout.write("acts\n");
  if (lease.leftMs() <= 0) process.stdout.write("sees that its lease is over\n");
}
