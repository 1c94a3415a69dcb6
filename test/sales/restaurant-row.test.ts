/** What a restaurant's row may become by plain SQL. */

import { bothPostgres, makeRestaurants, recordSales, type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";

const changes = {
  "currency = 'JPY'":
    "has sales or an opening total, and they are in INR, not JPY; record what is sold in JPY under another restaurant",
  "time_zone = 'Asia/Tokyo'":
    "has sales or an opening total, and their dates are those of Asia/Kolkata, not Asia/Tokyo; record what is sold there under another restaurant",
  "cutoff = '04:00'":
    "has sales or an opening total, and their dates end at 00:00, not 04:00; record what is sold by that under another restaurant",
  "id = 'other'":
    "has sales or an opening total, and it cannot become other; record what is sold under that id from now on",
};

async function run({ database }: TestDatabase, statement: string): Promise<unknown> {
  return database.session(async (session) => session.query(statement));
}

describe.each(bothPostgres)("a restaurant on PostgreSQL %s", (server) => {
  test("keeps what its sales mean once it has any, and is not deleted; the rest may change", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 3);
    await recordSales(test.db, [
      { restaurant: "r0001", businessDate: "2026-03-02", amountMinor: 120 },
      { restaurant: "r0002", businessDate: "2026-03-01", amountMinor: 120 },
    ]);
    for (const [change, message] of Object.entries(changes)) {
      await expect(run(test, `update sales.restaurant set ${change} where id = 'r0001'`), change).rejects.toMatchObject(
        {
          sqlstate: "23001",
          message: `database: restaurant r0001: ${message}`,
        },
      );
    }
    await expect(run(test, "delete from sales.restaurant")).rejects.toMatchObject({
      sqlstate: "23001",
      message: expect.stringContaining("it cannot be deleted; set active to false instead"),
    });
    await run(
      test,
      "update sales.restaurant set name = 'Soho', active = false, currency = currency where id = 'r0001'",
    );
    for (const change of Object.keys(changes))
      await run(test, `update sales.restaurant set ${change} where id in ('r0003', 'other')`);
    await run(test, "delete from sales.restaurant where id = 'other'");
  });

  test("keeps them with an opening total alone", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 1);
    await run(
      test,
      "insert into sales.opening_total (restaurant_id, business_date, amount_minor, source) values ('r0001', '2026-03-01', 1, 'x')",
    );
    await expect(run(test, "update sales.restaurant set currency = 'JPY'")).rejects.toMatchObject({
      sqlstate: "23001",
    });
  });

  test("is refused a change that would overtake a sale which is not committed yet", async () => {
    await using test = await testDatabase({ server });
    await makeRestaurants(test.db, 1);
    await test.database.session(async (session) => {
      await session.query("begin");
      await session.query(`insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor)
        values ('r0001', '2026-03-01', 'till', 1, 120)`);
      const change = run(test, "update sales.restaurant set currency = 'JPY'");
      await waiter(test);
      await session.query("commit");
      await expect(change).rejects.toMatchObject({ sqlstate: "23001" });
    });
  });

  test.each(["Europe/Londn", "IST", "XYZ5", "Europe/London5", "Mars/Phobos", "", "right now"])(
    "is refused the time zone %j, which the server may take for an offset",
    async (zone) => {
      await using test = await testDatabase({ server });
      const message = `restaurant r0001: the time zone ${zone} is not known to this server; name one like Europe/London`;
      await expect(makeRestaurants(test.db, 1, { time_zone: zone })).rejects.toMatchObject({ code: "22023", message });
      await makeRestaurants(test.db, 1);
      const change = sql`update sales.restaurant set time_zone = ${zone}`.execute(test.db);
      await expect(change).rejects.toMatchObject({ code: "22023", message });
    },
  );

  test("may be in any zone that the server lists", async () => {
    await using test = await testDatabase({ server });
    const zones = [
      "Europe/London",
      "america/port-au-prince",
      "America/Argentina/Buenos_Aires",
      "Etc/GMT+5",
      "UTC",
      "EST5EDT",
    ];
    for (const [index, time_zone] of zones.entries()) {
      await sql`insert into sales.restaurant (id, name, time_zone, currency) values (${`z${index}`}, 'Z', ${time_zone}, 'EUR')`.execute(
        test.db,
      );
    }
    const { rows } = await sql`select count(*)::int as count from sales.restaurant`.execute(test.db);
    expect(rows).toEqual([{ count: zones.length }]);
  });
});

/** Returns when a session of the database waits for a lock. */
async function waiter({ db }: TestDatabase): Promise<void> {
  const waiting = sql<{ count: number }>`select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`;
  await expect.poll(async () => (await waiting.execute(db)).rows[0]?.count).toBe(1);
}
