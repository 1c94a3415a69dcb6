/** What may change about a restaurant once something is recorded, and what that does to the dates of its sales. */

import { importSales } from "@nightwriter/sales";
import { changeRestaurant, listRestaurants, type RestaurantChange } from "@nightwriter/sales/restaurants";
import { type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { type Folder, importNew, optionsOf, saleLines, temporaryFolder } from "./fixture.ts";

const person = { name: "ada", host: "till-office" };
const format = "yyyy-MM-dd HH:mm";
const date = (text: string) => Temporal.PlainDate.from(text);
const change = async ({ database }: TestDatabase, what: RestaurantChange) =>
  changeRestaurant(database, { id: "soho", change: what, actor: person, verb: "restaurants set", reason: "moved" });

/** Sales of soho at these times, one each. */
async function sell({ database }: TestDatabase, folder: Folder, times: readonly string[]): Promise<void> {
  const lines = times.map((time, index) => `${time},${index + 1}.00`);
  const file = await folder.write(`${times[0]?.slice(0, 10)}.csv`, `date,amount\n${lines.join("\n")}\n`);
  await importNew(database, optionsOf(file, { date: { column: "date", format } }));
}

async function auditedVerbs({ db }: TestDatabase): Promise<unknown[]> {
  return (await sql`select verb from nightwriter.audit_log`.execute(db)).rows;
}

describe("a restaurant without sales", () => {
  it("may get another name, zone, cutoff and currency, and is told with it", async () => {
    await using test = await testDatabase();
    await sql`insert into sales.restaurant (id, name, time_zone, currency) values ('soho', 'soho', 'Europe/London', 'GBP')`.execute(
      test.db,
    );
    const { before, after } = await change(test, {
      zone: "asia/kolkata",
      cutoff: "04:00",
      currency: "INR",
      name: "Soho",
    });
    expect(before).toMatchObject({ currency: "GBP", clocks: [{ from: null, zone: "Europe/London", cutoff: "00:00" }] });
    expect(after).toMatchObject({ name: "Soho", currency: "INR", clocks: [{ from: null, cutoff: "04:00" }] });
    expect(await listRestaurants(test.database)).toEqual([after]);
    const { rows } = await sql`select verb, actor, reason, arguments, before, after from nightwriter.audit_log`.execute(
      test.db,
    );
    expect(rows).toMatchObject([
      {
        verb: "restaurants set",
        actor: "ada",
        reason: "moved",
        arguments: { restaurant: "soho", cutoff: "04:00" },
        after,
      },
    ]);
    expect(await change(test, { name: "Soho" })).toEqual({ before: after, after, changed: false });
    expect(await auditedVerbs(test)).toHaveLength(1);
  });

  it("is refused by name if there is none", async () => {
    await using test = await testDatabase();
    await expect(change(test, { name: "Soho" })).rejects.toMatchObject({
      code: "restaurant_unknown",
      message: "restaurant soho: is not known; see: nightwriter restaurants list",
    });
  });
});

describe("a restaurant with sales", () => {
  it("gets a cutoff from a date on that has none yet, and both clocks tell their own dates", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    await sell(test, folder, ["2026-03-05 02:00"]);
    await change(test, { cutoff: "04:00", from: date("2026-03-07") });
    await sell(test, folder, ["2026-03-06 23:00", "2026-03-07 03:59", "2026-03-07 04:00", "2026-03-08 03:59"]);
    expect(await saleLines(test.database)).toEqual([
      "2 2026-03-05 100",
      "2 2026-03-06 100",
      "3 2026-03-06 200",
      "4 2026-03-07 300",
      "5 2026-03-07 400",
    ]);
  });

  it("keeps what tells the dates and the currency of what is recorded, whoever asks", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    await sell(test, folder, ["2026-03-05 02:00", "2026-03-06 02:00"]);
    const fixed = (message: RegExp) => ({ code: "restaurant_fixed", message: expect.stringMatching(message) });
    await expect(change(test, { currency: "EUR" })).rejects.toMatchObject(fixed(/its currency stays GBP/));
    await expect(change(test, { zone: "Asia/Kolkata" })).rejects.toMatchObject(fixed(/say --from with a later date/));
    const early = change(test, { zone: "Asia/Kolkata", from: date("2026-03-06") });
    await expect(early).rejects.toMatchObject(fixed(/has sales until 2026-03-06.*choose a date after it/));
    expect((await change(test, { zone: "Asia/Kolkata", from: date("2026-03-07") })).after.clocks).toHaveLength(2);
    // As long as nothing is recorded by it, it may still change.
    await change(test, { zone: "Asia/Dubai", from: date("2026-03-07") });
    await sell(test, folder, ["2026-03-07 02:00"]);
    const byHand = sql`update sales.restaurant_clock set cutoff = '05:00'`.execute(test.db);
    await expect(byHand).rejects.toMatchObject({ code: "23001" });
    await expect(sql`delete from sales.restaurant_clock`.execute(test.db)).rejects.toMatchObject({ code: "23001" });
    const unknown = sql`insert into sales.restaurant_clock values ('soho', '2027-01-01', 'Europe/Atlantis', '00:00')`;
    await expect(unknown.execute(test.db)).rejects.toMatchObject({ code: "22023" });
  });

  it("may be imported for with any of its clocks, and with no other", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    await sell(test, folder, ["2026-03-05 02:00"]);
    await change(test, { cutoff: "04:00", from: date("2026-03-07") });
    const file = await folder.write("more.csv", "date,amount\n2026-03-09 02:00,1.00\n");
    const said = (cutoff: string) =>
      importSales(test.database, optionsOf(file, { date: { column: "date", format }, cutoff }));
    await expect(said("05:00")).rejects.toMatchObject({ code: "restaurant_differs" });
    expect(await said("04:00")).toMatchObject({ outcome: "imported", lines: 1 });
  });
});

describe("a closed restaurant", () => {
  it("refuses sales since its date, takes those of before, and is open again when that is said", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    await sell(test, folder, ["2026-03-05 12:00"]);
    await expect(change(test, { closedSince: date("2026-03-05") })).rejects.toMatchObject({
      code: "restaurant_fixed",
      message: expect.stringContaining("has sales until 2026-03-05"),
    });
    const { after } = await change(test, { closedSince: date("2026-03-07") });
    expect(after).toMatchObject({ closedSince: "2026-03-07", active: false });
    await sell(test, folder, ["2026-03-06 12:00"]);
    await expect(sell(test, folder, ["2026-03-07 12:00"])).rejects.toMatchObject({
      code: "bad_lines",
      badLines: [{ line: 2, reason: expect.stringContaining("is not before 2026-03-07") }],
    });
    await change(test, { closedSince: null });
    await sell(test, folder, ["2026-03-07 12:00"]);
    expect(await saleLines(test.database)).toHaveLength(3);
  });

  it("is not closed since a date that is still to come", async () => {
    await using test = await testDatabase();
    await using folder = await temporaryFolder();
    await sell(test, folder, ["2026-03-05 12:00"]);
    await expect(change(test, { closedSince: date("2199-01-01") })).rejects.toMatchObject({
      message: expect.stringContaining("still to come; close it then"),
    });
  });
});
