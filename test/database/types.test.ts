/** How values pass the driver, both ways. */

import { openDatabase, parameter, statement } from "@nightwriter/database";
import { bothPostgres, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";

const largest = 9_223_372_036_854_775_807n;
const smallest = -9_223_372_036_854_775_808n;

/** What SQL says and what arrives. */
const values: readonly (readonly [expression: string, value: unknown])[] = [
  [`${largest}::bigint`, largest],
  [`(${smallest})::bigint`, smallest],
  ["0::bigint", 0n],
  ["null::bigint", null],
  ["(select count(*) from sales.sale)", 0n],
  [`sum(${largest}::bigint)`, String(largest)],
  [`array[1, null, ${largest}]::bigint[]`, [1n, null, largest]],
  ["array[]::bigint[]", []],
  ["2147483647::integer", 2_147_483_647],
  ["'2026-03-29'::date", "2026-03-29"],
  ["'0001-01-01'::date", "0001-01-01"],
  ["null::date", null],
  ["array['2026-03-29', null, '2026-10-25']::date[]", ["2026-03-29", null, "2026-10-25"]],
  ["'04:30'::time", "04:30:00"],
  ["array['04:30']::time[]", ["04:30:00"]],
  ["interval '1 day 90 minutes'", "1 day 01:30:00"],
  ["array[interval '90 minutes']", ["01:30:00"]],
  ["'2026-03-29 02:30+00'::timestamptz", new Date("2026-03-29T02:30:00Z")],
  ["'18446744073709551615'::xid8", "18446744073709551615"],
  ["'10:20:10,14'::pg_snapshot", "10:20:10,14"],
  ["1.10::numeric", "1.10"],
  ["true", true],
  [`array['a,"b', null, '']`, ['a,"b', null, ""]],
];

describe.each(bothPostgres)("a value from PostgreSQL %s", (server) => {
  test("arrives exactly, by Kysely and in a session", async () => {
    await using test = await testDatabase({ server });
    for (const [expression, value] of values) {
      const query = sql.raw<{ value: unknown }>(`select ${expression} as value`);
      expect((await query.execute(test.db)).rows, expression).toEqual([{ value }]);
      expect((await test.database.run(query.compile(test.db))).rows, expression).toEqual([{ value }]);
    }
  });

  test("arrives the same whatever the database is set to print, or to isolate", async () => {
    await using test = await testDatabase({ server });
    const settings = {
      datestyle: "German",
      intervalstyle: "iso_8601",
      timezone: "Pacific/Auckland",
      default_transaction_isolation: "serializable",
    };
    for (const [name, value] of Object.entries(settings)) {
      await sql`alter database ${sql.id(test.name)} set ${sql.id(name)} = ${sql.lit(value)}`.execute(test.db);
    }
    await using database = openDatabase({ url: test.url, applicationName: "test", max: 1 });
    const { rows } = await sql`
      select date '2026-03-29' as date, interval '90 minutes' as interval, timestamptz '2026-03-29 02:30+00' as instant,
        current_setting('transaction_isolation') as isolation, current_setting('timezone') as zone`.execute(
      database.db,
    );
    expect(rows).toEqual([
      {
        date: "2026-03-29",
        interval: "01:30:00",
        instant: new Date("2026-03-29T02:30:00Z"),
        isolation: "read committed",
        zone: settings.timezone,
      },
    ]);
  });
});

describe.each(bothPostgres)("a value to PostgreSQL %s", (server) => {
  test("is what it was when it comes back, alone and in arrays", async () => {
    await using test = await testDatabase({ server });
    const given = {
      amount: largest,
      amounts: [smallest, null, largest],
      date: "2026-03-29",
      dates: ["2026-03-29", null],
      keys: ['a,"b\\', "{}", "", "ключ", null],
    };
    const query = sql<typeof given>`select ${parameter("amount", "bigint")} as amount,
      ${parameter("amounts", "bigint[]")} as amounts, ${parameter("date", "date")} as date,
      ${parameter("dates", "date[]")} as dates, ${parameter("keys", "text[]")} as keys`;
    const bound = statement<typeof given, typeof given>({ compile: () => query.compile(test.db) }).bind(given);
    expect((await test.database.run(bound)).rows).toEqual([given]);
  });

  test("is refused, not rounded, where it does not fit", async () => {
    await using test = await testDatabase({ server });
    const tooLarge = sql`select ${largest + 1n}::bigint`.compile(test.db);
    await expect(test.database.run(tooLarge)).rejects.toMatchObject({ code: "data", sqlstate: "22003" });
  });
});
