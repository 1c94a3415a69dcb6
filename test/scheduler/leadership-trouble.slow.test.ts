import { setTimeout } from "node:timers/promises";
import { startRedis, startTcpProxy } from "@nightwriter/services";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { type DueNight, dueNight, endInOrder, enqueued } from "./fixture.ts";
import { doesDuties, leads, leaseMs, lines, patienceMs, settled, startThree, successor } from "./leaders.ts";

/**
 * Stops the leader when it is at no duty, and returns when that was. In the middle of a plan it would keep the lock that
 * all planners take, until the server ends its transaction.
 */
async function betweenDuties(
  { db }: DueNight,
  { stop, goOn }: { readonly stop: () => void; readonly goOn: () => void },
): Promise<number> {
  for (;;) {
    const stoppedAtMs = Date.now();
    stop();
    // What it had sent has arrived by then, and shows.
    await setTimeout(200);
    const { rows } = await sql`select 1 from pg_locks where locktype = 'advisory' and database =
      (select oid from pg_database where datname = current_database())`.execute(db);
    if (rows.length === 0) return stoppedAtMs;
    goOn();
  }
}

describe("a scheduler that leads", () => {
  it("leads no more after a freeze of 1.5 leases, and does no duty until it leads again", async () => {
    await using night = await dueNight({ store: "redis", restaurants: 5 });
    const [first, ...others] = await settled(await startThree(night));
    await enqueued(night);
    const frozenAtMs = await betweenDuties(night, {
      stop: () => first.signal("SIGSTOP"),
      goOn: () => first.signal("SIGCONT"),
    });
    const { app: second, afterMs } = await successor(others, frozenAtMs);
    expect(afterMs).toBeLessThan(leaseMs + 2_000);
    await doesDuties(night, second);
    await expect.poll(() => Date.now() - frozenAtMs, { timeout: patienceMs }).toBeGreaterThan(1.5 * leaseMs);
    const before = first.log.length;
    first.signal("SIGCONT");
    const nonce = lines(second, "leading").at(-1)?.["nonce"];
    await first.waitForLog((line) => line.msg === "standing by" && line["nonce"] === nonce, patienceMs);
    const after = first.log.slice(before).map(({ msg }) => msg);
    expect(after).toContain("leading no more");
    expect(after).not.toContain("leading");
    await doesDuties(night, second);
    expect(lines(first, "queue mended").length).toBe(
      first.log.slice(0, before).filter(({ msg }) => msg === "queue mended").length,
    );
    for (const each of [first, ...others]) await endInOrder(each);
  }, 180_000);

  it("lets others lead within lease + 4 s when its database is silent", async () => {
    await using night = await dueNight({ store: "redis", restaurants: 5 });
    const { databaseUrl } = night;
    await using proxy = await startTcpProxy({ port: Number(new URL(databaseUrl).port) });
    const first = await night.start({
      LEASE_MS: String(leaseMs),
      DATABASE_URL: proxy.urlFor(databaseUrl),
      WORKER_NAME: "one",
    });
    await first.waitForLog(({ msg }) => msg === "leading", patienceMs);
    await enqueued(night);
    const second = await night.start({ LEASE_MS: String(leaseMs), WORKER_NAME: "two" });
    await settled([first, second]);
    const heldAtMs = await betweenDuties(night, { stop: proxy.hold, goOn: proxy.resume });
    const { afterMs } = await successor([second], heldAtMs);
    expect(afterMs).toBeLessThan(leaseMs + 4_000);
    await first.waitForLog(({ msg }) => msg === "not renewing");
    await doesDuties(night, second);
    proxy.resume();
    await first.waitForLog(({ msg }) => msg === "standing by", patienceMs);
    await endInOrder(first);
    await endInOrder(second);
  }, 180_000);

  it("stops by itself while the lease store is away for 3 leases, as does everybody, and one leads when it is back", async () => {
    await using redis = await startRedis();
    await using proxy = await startTcpProxy({ port: redis.port });
    await using night = await dueNight({ store: "redis", restaurants: 5 });
    const schedulers = await startThree(night, { LEASE_URL: proxy.urlFor(redis.url) });
    await settled(schedulers);
    await enqueued(night);
    const said = (msg: string): number[] => schedulers.map((each) => lines(each, msg).length);
    const [away, back] = [said("lease store away"), said("lease store back")];
    const cutAtMs = Date.now();
    proxy.cut();
    await expect.poll(() => schedulers.some(leads), { timeout: patienceMs }).toBe(false);
    await expect.poll(() => Date.now() - cutAtMs, { timeout: patienceMs }).toBeGreaterThan(3 * leaseMs);
    expect(schedulers.some(leads)).toBe(false);
    proxy.resume();
    const [leader] = await settled(schedulers);
    await doesDuties(night, leader);
    expect(said("lease store away")).toEqual(away.map((count) => count + 1));
    expect(said("lease store back")).toEqual(back.map((count) => count + 1));
    for (const each of schedulers) await endInOrder(each);
  }, 180_000);
});
