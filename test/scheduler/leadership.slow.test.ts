import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { bothQueues } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { dueNight, endInOrder, enqueued } from "./fixture.ts";
import { doesDuties, leaseMs, lines, patienceMs, settled, startThree, successor } from "./leaders.ts";

describe.each(bothQueues)("schedulers with leases in %s", (store) => {
  it("let one lead, and another within lease + 2 s when it is killed, and at once when it is asked to end", async () => {
    await using night = await dueNight({ store, restaurants: 20 });
    const schedulers = await startThree(night);
    const [first, ...others] = await settled(schedulers);
    await enqueued(night);
    for (const other of others) expect(lines(other, "night planned")).toEqual([]);

    const killedAtMs = Date.now();
    first.signal("SIGKILL");
    const second = await successor(others, killedAtMs);
    expect(second.afterMs).toBeLessThan(leaseMs + 2_000);
    await doesDuties(night, second.app);

    const askedAtMs = Date.now();
    const ended = endInOrder(second.app);
    const [third] = others.filter((app) => app !== second.app);
    const { app, afterMs } = await successor(others, askedAtMs);
    expect(app).toBe(third);
    expect(afterMs).toBeLessThan(2_000);
    await ended;
    await doesDuties(night, app);
    await endInOrder(app);
    expect(await night.runs()).toMatchObject([{ total: 20, due: 20 }]);
  }, 180_000);
});

describe("a scheduler with the shortest lease", () => {
  it("leads although each connection to its database takes half a second to be made", async () => {
    await using night = await dueNight({ store: "redis", restaurants: 20 });
    await using slow = await slowWay(Number(new URL(night.databaseUrl).port), 500);
    const url = new URL(night.databaseUrl);
    url.port = String(slow.port);
    const scheduler = await night.start({ LEASE_MS: "1000", DATABASE_URL: url.href });
    await scheduler.waitForLog(({ msg }) => msg === "leading", patienceMs);
    await enqueued(night);
    await doesDuties(night, scheduler);
    await endInOrder(scheduler);
  }, 120_000);
});

/** A way to a port of this machine on which each connection says nothing for so long. */
async function slowWay(port: number, ms: number): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer((near) => {
    near.on("error", () => undefined);
    const pass = (): void => {
      const far = connect(port, "127.0.0.1").on("error", () => near.destroy());
      near.on("close", () => far.destroy());
      far.on("close", () => near.destroy());
      near.pipe(far).pipe(near);
    };
    setTimeout(pass, ms);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}
