import { bothQueues } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { businessDate, expectExact, planNight } from "./night.ts";

const overflowing = "r0007";
const refused = "r0042";

describe.each(bothQueues)("a worker with its queue in %s", { timeout: 120_000 }, (store) => {
  it("parks the keys whose own data cannot be added, with their error, and applies all others", async () => {
    const amountMinor = 2n ** 63n - 1n;
    await using night = await planNight({
      store,
      restaurants: 200,
      sales: [overflowing, overflowing].map((restaurant) => ({ restaurant, businessDate, amountMinor })),
    });
    await sql`
      create function refuse_one() returns trigger language plpgsql as $$
      begin
        raise exception 'this restaurant is under audit';
      end $$`.execute(night.db);
    await sql`
      create trigger refuse_one before update on nightwriter.key_total for each row
      when (new.key = ${sql.lit(refused)}) execute function refuse_one()`.execute(night.db);
    await night.startWorker("careful");

    await night.enqueue();
    await night.finished(198);

    await expectExact(night, [overflowing, refused]);
    const parked = await night.db
      .selectFrom("nightwriter.run_item")
      .select("key")
      .where("status", "=", "parked")
      .orderBy("key")
      .execute();
    expect(parked).toEqual([{ key: overflowing }, { key: refused }]);
    const attempts = await night.db
      .selectFrom("nightwriter.attempt")
      .select(["key", "outcome", "sqlstate", "reason", "worker"])
      .orderBy("key")
      .execute();
    expect(attempts).toEqual([
      {
        key: overflowing,
        outcome: "parked",
        sqlstate: "22003",
        reason: expect.stringContaining("out of range"),
        worker: "careful",
      },
      {
        key: refused,
        outcome: "parked",
        sqlstate: "P0001",
        reason: expect.stringContaining("under audit"),
        worker: "careful",
      },
    ]);
  });
});
