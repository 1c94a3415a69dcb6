/** Transaction ids count within one cluster only, and the database knows which one it is in. */

import { currentEpoch, migrateToLatest, pendingSql } from "@nightwriter/database";
import { bothPostgres, makeRestaurants, recordSales, type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { describe, expect, test } from "vitest";

/** What a dump brings along when it is restored into another cluster: an identifier that is not this one's. */
async function restore({ db }: TestDatabase): Promise<void> {
  await db.updateTable("nightwriter.epoch").set({ system_identifier: 1n }).execute();
}

const sale = { restaurant: "r0001", businessDate: "2026-03-01", amountMinor: 120 };
const command = expect.stringContaining("run: nightwriter migrate");

describe.each(bothPostgres)("the epoch on PostgreSQL %s", (server) => {
  test("is missing in a cluster that the data was restored into, and nothing is recorded before it is started", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 1);
    expect(await currentEpoch(test.database)).toBe(1);
    await restore(test);
    await expect(currentEpoch(test.database)).rejects.toMatchObject({ sqlstate: "55000", message: command });
    await expect(recordSales(test.db, [sale])).rejects.toMatchObject({ code: "55000", message: command });
    expect(await pendingSql(test.database)).toEqual([expect.stringContaining('insert into "nightwriter"."epoch"')]);
  });

  test("is started by migrate, once, and stands in what is recorded from then on", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 1);
    await recordSales(test.db, [sale]);
    await restore(test);
    expect(await migrateToLatest(test.database)).toEqual({ applied: [], epoch: { epoch: 2, started: true } });
    expect(await migrateToLatest(test.database)).toEqual({ applied: [], epoch: { epoch: 2, started: false } });
    expect(await pendingSql(test.database)).toEqual([]);
    await recordSales(test.db, [sale]);
    const rows = await test.db.selectFrom("sales.sale").select("epoch").orderBy("epoch").execute();
    expect(rows).toEqual([{ epoch: 1 }, { epoch: 2 }]);
  });

  test("is a new one when the data come back to a cluster that they have left", async () => {
    await using test = await testDatabase({ server });
    await test.db.insertInto("nightwriter.epoch").values({ epoch: 2, system_identifier: 1n }).execute();
    await expect(currentEpoch(test.database)).rejects.toMatchObject({ message: command });
    expect((await migrateToLatest(test.database)).epoch).toEqual({ epoch: 3, started: true });
    expect(await currentEpoch(test.database)).toBe(3);
  });

  test("is one, however many start it at once", async () => {
    await using test = await testDatabase({ server, max: 10 });
    await restore(test);
    const all = await Promise.all(Array.from({ length: 10 }, async () => (await migrateToLatest(test.database)).epoch));
    const [first] = all;
    expect(new Set(all.map(({ epoch }) => epoch))).toEqual(new Set([first?.epoch]));
    expect(all.filter(({ started }) => started)).toHaveLength(1);
    expect(await currentEpoch(test.database)).toBe(first?.epoch);
  });
});
