import { registerJob } from "@nightwriter/job";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { dueItems, ensureNightlyRun, resizePartitions } from "@nightwriter/run";
import { recordSales } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import type { Night } from "../worker/night.ts";
import { type Observed, violations, waitUntil } from "./fleet.ts";
import { planSlowNight, type Stores } from "./hand-over.ts";

const leased: Stores = { queue: "postgres" };
const unleased: Stores = { queue: "redis", leases: "none" };
const restaurants = 120;

/** Plans the night of this date, enqueues it, and waits until all of it is applied. */
async function runNight({ database, db, queues, keys }: Night, businessDate: string): Promise<void> {
  await recordSales(
    db,
    keys.map((restaurant) => ({ restaurant, businessDate, amountMinor: 700 })),
  );
  const job = await registerJob(database, restaurantTotals);
  await ensureNightlyRun(database, job, Temporal.PlainDate.from(businessDate));
  const before = await countEntries(db);
  for await (const page of dueItems(database, job)) {
    for (const { partition, ...item } of page) await queues.partition(job.definition.name, partition).enqueue([item]);
  }
  await waitUntil(async () => expect(await countEntries(db)).toBe(before + keys.length));
}

async function countEntries(db: Night["db"]): Promise<number> {
  const { count } = await db
    .selectFrom("nightwriter.ledger_entry")
    .select((eb) => eb.fn.countAll<bigint>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Under the terms that the partitions have now, these workers consume the partitions 0 … count-1 and no other. */
async function expectConsumed(
  { db }: Night,
  { workers, count, everyone }: { workers: readonly Observed[]; count: number; everyone: boolean },
): Promise<void> {
  const all = Array.from({ length: count }, (_, partition) => partition);
  await waitUntil(async () => {
    const terms = await db.selectFrom("nightwriter.partition_term").select(["partition", "fencing_token"]).execute();
    const tokens = new Map(terms.map((term) => [term.partition, Number(term.fencing_token)]));
    for (const worker of everyone ? workers : []) expect(ascending(worker.held())).toEqual(all);
    const held = workers.flatMap((worker) => worker.consumptions()).filter(({ leftNs }) => leftNs === undefined);
    expect(ascending(new Set(held.map(({ partition }) => partition)))).toEqual(all);
    for (const { partition, fencingToken } of held) expect(fencingToken).toBe(tokens.get(partition));
  });
}

function ascending(numbers: Iterable<number>): number[] {
  return [...numbers].toSorted((one, other) => one - other);
}

describe.each<[string, Stores, boolean]>([
  ["with leases", leased, false],
  ["without leases", unleased, true],
])("two workers %s", { timeout: 180_000 }, (_, stores, everyone) => {
  it("that stay up while a job gets 8 and then 32 partitions hand over the old ones and take the new ones", async () => {
    await using seeded = await planSlowNight({ stores, restaurants, entryMs: 0, settings: {} });
    const { night, start } = seeded;
    const workers = await Promise.all(["left", "right"].map(start));
    await night.enqueue();
    await night.finished(restaurants, 60_000);
    const job = await registerJob(night.database, restaurantTotals);
    for (const [count, date] of [
      [8, "2026-03-15"],
      [32, "2026-03-16"],
    ] as const) {
      await resizePartitions(night.database, job, count);
      await expectConsumed(night, { workers, count, everyone });
      await runNight(night, date);
    }
    expect(await violations(night)).toEqual([]);
    for (const { app } of workers) app.signal("SIGTERM");
    for (const { app } of workers) expect(await app.exited).toEqual({ code: 0, signal: null });
    expect(workers.flatMap(({ app }) => app.log.filter(({ level }) => level === "error"))).toEqual([]);
  });
});
