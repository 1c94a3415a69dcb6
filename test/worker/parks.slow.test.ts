/** Parks in a night that has others behind it: the write and the park never wait for one another in a circle. */
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { businessDate, enqueueHeld, expectExact, type Night, planNight } from "./night.ts";

const restaurants = 4_000;
const bad = Array.from({ length: 12 }, (_, index) => `r${String(1 + index * 300).padStart(4, "0")}`);

/** Finished nights of which the statistics know: with three or more the server plans the write in another way. */
async function addEarlierNights({ db }: Night, count: number): Promise<void> {
  await sql`insert into nightwriter.run (job_id, business_date, kind, planned_at, finished_at)
    select job_id, business_date - night, 'nightly', now(), now()
    from nightwriter.run, generate_series(1, ${count}::integer) as night`.execute(db);
  await sql`vacuum analyze`.execute(db);
}

async function deadlocks({ db }: Night): Promise<bigint | undefined> {
  const { rows } = await sql<{ deadlocks: bigint }>`
    select deadlocks from pg_stat_database where datname = current_database()`.execute(db);
  return rows[0]?.deadlocks;
}

async function planBadNight(keys: readonly string[]): Promise<Night> {
  const amountMinor = 2n ** 63n - 1n;
  const night = await planNight({
    store: "redis",
    restaurants,
    sales: keys
      .flatMap((restaurant) => [restaurant, restaurant])
      .map((each) => ({ restaurant: each, businessDate, amountMinor })),
  });
  await addEarlierNights(night, 40);
  return night;
}

describe("a night after forty others, on two workers", { timeout: 180_000 }, () => {
  it("parks twelve keys that cannot be added without one deadlock, and applies all others", async () => {
    await using night = await planBadNight(bad);
    const leases = { LEASE_URL: "" };
    const workers = [await night.startWorker("one", leases), await night.startWorker("two", leases)];
    const release = await enqueueHeld(night, ["one", "two"]);
    await release();
    await night.finished(restaurants - bad.length, 120_000);
    for (const worker of workers) await worker[Symbol.asyncDispose]();
    // The figures of a session are there for certain when it has ended.
    expect(await deadlocks(night)).toBe(0n);
    const parked = await night.db
      .selectFrom("nightwriter.run_item")
      .select("key")
      .where("status", "=", "parked")
      .orderBy("key")
      .execute();
    expect(parked.map(({ key }) => key)).toEqual(bad);
    await expectExact(night, bad);
  });
});
