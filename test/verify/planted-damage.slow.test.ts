/**
 * Each rule of verify is shown to fail: damage is planted behind the back of every trigger and constraint, and exactly that rule
 * names exactly that key, date and amount. A rule that could not fail would prove nothing.
 */
import { bothPostgres } from "@nightwriter/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { damages, entry, last } from "./damages.ts";
import { broken, damage, type History, nights, type Original, openOriginal } from "./history.ts";
import { tableDamages } from "./table-damages.ts";

const [, second, third] = nights;

describe.each(bothPostgres)("verify on PostgreSQL %s", (server) => {
  let original: Original;
  beforeAll(async () => {
    original = await openOriginal(server);
  });
  afterAll(async () => original[Symbol.asyncDispose]());

  test("finds nothing before the damage", async () => {
    await using history = await original.copy();
    expect(await broken(history)).toEqual([]);
  });

  describe.each(Object.entries({ ...damages, ...tableDamages }))("%s", (_rule, planted) => {
    test.each(planted)("names $what, and no other rule does", async (each) => {
      await using history = await original.copy();
      await damage(history, ...each.plant);
      expect(await broken(history)).toEqual(each.broken);
    });
  });

  describe("snapshot-order", () => {
    test("names an entry whose snapshot did not see the one before", async () => {
      await using history = await original.copy();
      const before = await xidOf(history, "r0003", 2);
      await damage(
        history,
        `update nightwriter.ledger_entry
         set source_snapshot = format('${before}:%s:${before}', pg_snapshot_xmax(source_snapshot))::pg_snapshot where ${last}`,
      );
      expect(await broken(history)).toEqual([
        { rule: "snapshot-order", key: "r0003", date: third, version: 3n, measure: "xid seen", expected: before },
      ]);
    });

    test("names an entry whose transaction had ended before its snapshot was taken", async () => {
      await using history = await original.copy();
      const own = await xidOf(history, "r0003", 3);
      await damage(
        history,
        `update nightwriter.ledger_entry set source_snapshot = format('%s:%s:', xid::text::bigint + 1, xid::text::bigint + 1)::pg_snapshot
         where ${last}`,
      );
      expect(await broken(history)).toEqual([
        {
          rule: "snapshot-order",
          key: "r0003",
          date: third,
          version: 3n,
          measure: "xid",
          expected: own + 1n,
          actual: own,
        },
      ]);
    });

    test("names a plan that claims to have seen what has not happened yet", async () => {
      await using history = await original.copy();
      await damage(
        history,
        `update nightwriter.run set plan_snapshot = '4000000000:4000000000:' where business_date = '${third}' and kind = 'nightly'`,
      );
      expect(await broken(history)).toMatchObject([
        { rule: "snapshot-order", date: third, measure: "xid still to come, seen by the plan", actual: 4_000_000_000n },
      ]);
    });

    test("names an entry of an older epoch than the one before", async () => {
      await using history = await original.copy();
      await damage(
        history,
        "insert into nightwriter.epoch (epoch, system_identifier) values (2, -1)",
        `update nightwriter.ledger_entry set epoch = 2 where ${entry("r0003", 2)}`,
      );
      expect(await broken(history)).toEqual([
        { rule: "snapshot-order", key: "r0003", date: third, version: 3n, measure: "epoch", expected: 2n, actual: 1n },
      ]);
    });
  });

  test("a day that was added twice is named by its deltas and by its sum", async () => {
    await using history = await original.copy();
    await damage(
      history,
      `update nightwriter.ledger_entry set delta_minor = 202, total_after = 808 where ${entry("r0002", 4)}`,
      `update nightwriter.ledger_entry set total_after = 808 where ${entry("r0002", 5)}`,
      "update nightwriter.key_total set total_minor = 808 where key = 'r0002'",
    );
    const pair = { key: "r0002", date: second };
    const delta = { ...pair, rule: "delta-from-snapshot", measure: "delta_minor" };
    expect(await broken(history)).toEqual([
      { ...delta, version: 4n, expected: 0n, actual: 202n },
      { ...delta, version: 5n, expected: -202n, actual: 0n },
      { ...pair, rule: "entries-equal-sources", measure: "sum of deltas", expected: 202n, actual: 404n },
    ]);
  });

  test("a sale that disappeared is named by its delta and by its sum", async () => {
    await using history = await original.copy();
    await damage(history, `delete from sales.sale where restaurant_id = 'r0003' and business_date = '${third}'`);
    const pair = { key: "r0003", date: third };
    expect(await broken(history)).toEqual([
      { ...pair, rule: "delta-from-snapshot", version: 3n, measure: "delta_minor", expected: 0n, actual: 303n },
      { ...pair, rule: "delta-from-snapshot", version: 3n, measure: "source_count", expected: 0n, actual: 1n },
      { ...pair, rule: "entries-equal-sources", measure: "sum of deltas", expected: 0n, actual: 303n },
    ]);
  });
});

async function xidOf({ database }: History, key: string, version: number): Promise<bigint> {
  const row = await database.db
    .selectFrom("nightwriter.ledger_entry")
    .select("xid")
    .where("key", "=", key)
    .where("version_after", "=", BigInt(version))
    .executeTakeFirstOrThrow();
  return BigInt(row.xid);
}
