import { silentLogger } from "@nightwriter/core";
import { type Job, registerJob } from "@nightwriter/job";
import { applyItems } from "@nightwriter/ledger";
import { readTerms } from "@nightwriter/partition";
import { type OpenOptions, openTotals, restaurantTotals } from "@nightwriter/restaurant-totals";
import { ensureNightlyRun, finishRuns } from "@nightwriter/run";
import { bothPostgres, type PostgresVersion, recordSales, type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { type Folder, importNew, optionsOf, temporaryFolder } from "./fixture.ts";

interface Place extends AsyncDisposable {
  readonly folder: Folder;
  readonly test: TestDatabase;
  readonly job: Job;
  /** Opens the totals of a file with this content. */
  open(content: string, options?: Partial<OpenOptions>): ReturnType<typeof openTotals>;
}

/** It is 01:30 on 10 March in London, when a cutoff of 04:00 makes it the business date of the 9th. */
const now = Temporal.Instant.from("2026-03-10T01:30Z");
const creation = { zone: "Europe/London", cutoff: "04:00", currency: "GBP" };

async function house(server: PostgresVersion = "18"): Promise<Place> {
  const folder = await temporaryFolder();
  const test = await testDatabase({ server });
  const job = await registerJob(test.database, restaurantTotals);
  return {
    folder,
    test,
    job,
    open: async (content, options = {}) =>
      openTotals(test.database, job, { file: await folder.write("x.csv", content), now, ...creation, ...options }),
    async [Symbol.asyncDispose]() {
      await test[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Applies every item of the run; returns what each came to. */
async function applyRun({ test, job }: Place, runId: bigint): Promise<string[]> {
  const outcomes: string[] = [];
  for (const term of await readTerms(test.database, job)) {
    const rows = await test.db
      .selectFrom("nightwriter.run_item")
      .selectAll()
      .where("run_id", "=", runId)
      .where("partition", "=", term.partition)
      .execute();
    const items = rows.map((row) => ({ runId, key: row.key, businessDate: row.business_date }));
    const context = { database: test.database, job, term, worker: "test", logger: silentLogger };
    outcomes.push(...(await applyItems(context, items)).map(({ outcome }) => outcome));
  }
  return outcomes;
}

async function totals({ test }: Place): Promise<string[]> {
  const rows = await test.db.selectFrom("nightwriter.key_total").selectAll().orderBy("key").execute();
  return rows.map((row) => `${row.key} ${row.total_minor} v${row.version}`);
}

async function openings({ test }: Place): Promise<string[]> {
  const rows = await test.db.selectFrom("sales.opening_total").selectAll().orderBy("restaurant_id").execute();
  return rows.map((row) => `${row.restaurant_id} ${row.business_date} ${row.amount_minor}`);
}

describe("openTotals", () => {
  it.each(bothPostgres)(
    "records opening totals that a run applies as first entries, on PostgreSQL %s",
    async (server) => {
      await using place = await house(server);
      const result = await place.open('Restaurant,Total\nsoho,"40,000.00"\nmayfair,-12.50\n');
      expect(result).toMatchObject({ outcome: "opened", restaurants: 2, restaurantsCreated: 2 });
      expect(result).toMatchObject({ sums: new Map([["GBP", 39_987_50n]]) });
      // The business date is still the 9th, and the opening lies before it.
      expect(await openings(place)).toEqual(["mayfair 2026-03-08 -1250", "soho 2026-03-08 4000000"]);
      expect(await totals(place)).toEqual(["mayfair 0 v0", "soho 0 v0"]);
      expect(await applyRun(place, result.runId)).toEqual(["applied", "applied"]);
      expect(await totals(place)).toEqual(["mayfair -1250 v1", "soho 4000000 v1"]);
      expect((await finishRuns(place.test.database, place.job)).map((run) => run.kind)).toEqual(["opening"]);
    },
  );

  it("changes nothing the second time, and answers the same run", async () => {
    await using place = await house();
    const content = "restaurant,total\nsoho,40000\n";
    const first = await place.open(content);
    await applyRun(place, first.runId);
    expect(await place.open(content, { date: Temporal.PlainDate.from("2026-01-01") })).toEqual({
      outcome: "duplicate",
      runId: first.runId,
      businessDate: Temporal.PlainDate.from("2026-03-08"),
    });
    expect(await applyRun(place, first.runId)).toEqual(["duplicate"]);
    expect(await totals(place)).toEqual(["soho 4000000 v1"]);
  });

  it("makes one run when it is called twice at once", async () => {
    await using place = await house();
    const file = await place.folder.write("x.csv", "restaurant,total\nsoho,40000\n");
    const options = { file, now, ...creation };
    const results = await Promise.all([
      openTotals(place.test.database, place.job, options),
      openTotals(place.test.database, place.job, options),
    ]);
    expect(results.map(({ outcome }) => outcome).toSorted()).toEqual(["duplicate", "opened"]);
    expect(results[0]?.runId).toBe(results[1]?.runId);
  });

  it("takes the line's date, else the one given, else the day before the first sale", async () => {
    await using place = await house();
    await place.test.db
      .insertInto("sales.restaurant")
      .values(
        ["soho", "mayfair", "camden"].map((id) => ({ id, name: id, time_zone: "Europe/London", currency: "GBP" })),
      )
      .execute();
    await recordSales(
      place.test.db,
      ["soho", "camden"].map((restaurant) => ({ restaurant, businessDate: "2026-03-02", amountMinor: 5 })),
    );
    const options = { zone: "Europe/London", cutoff: "00:00" };
    await place.open("restaurant,total,date\nsoho,1,2026-02-20\nmayfair,2,\ncamden,3,\n", options);
    expect(await openings(place)).toEqual(["camden 2026-03-01 300", "mayfair 2026-03-09 200", "soho 2026-02-20 100"]);
    const given = { date: Temporal.PlainDate.from("2026-01-31") };
    await place.open("restaurant,total\nhackney,4\n", given);
    expect(await openings(place)).toContain("hackney 2026-01-31 400");
  });

  it("leaves the night of a later date its own sales only", async () => {
    await using place = await house();
    const { runId } = await place.open("restaurant,total\nsoho,40000\n");
    await applyRun(place, runId);
    await recordSales(place.test.db, [{ restaurant: "soho", businessDate: "2026-03-09", amountMinor: 2_000_00 }]);
    const night = await ensureNightlyRun(place.test.database, place.job, Temporal.PlainDate.from("2026-03-09"));
    expect(night.planned).toBe(1);
    await applyRun(place, night.run.id);
    expect(await totals(place)).toEqual(["soho 4200000 v2"]);
  });

  it("refuses lines that cannot be openings, each with its reason, and records none", async () => {
    await using place = await house();
    await place.open("restaurant,total\nopened,1\n");
    await place.test.db
      .insertInto("sales.restaurant")
      .values(
        ["sold", "applied"].map((id) => ({
          id,
          name: id,
          time_zone: "Europe/London",
          cutoff: "04:00",
          currency: "GBP",
        })),
      )
      .execute();
    await recordSales(
      place.test.db,
      ["sold", "applied"].map((restaurant) => ({ restaurant, businessDate: "2026-03-02", amountMinor: 5 })),
    );
    const night = await ensureNightlyRun(place.test.database, place.job, Temporal.PlainDate.from("2026-03-02"));
    const rows = await place.test.db
      .deleteFrom("nightwriter.run_item")
      .where("key", "<>", "applied")
      .returning("key")
      .execute();
    expect(rows.length).toBeGreaterThan(0);
    await applyRun(place, night.run.id);
    await place.test.db.updateTable("nightwriter.job").set({ closed_through: "2025-12-31" }).execute();
    const before = await openings(place);
    const content =
      "restaurant,total,date\nopened,1,\nsold,1,2026-03-02\napplied,1,\nold,1,2025-12-31\nfine,1,\nfine,2,\n";
    await expect(place.open(content)).rejects.toMatchObject({
      code: "bad_lines",
      badLines: [
        { line: 2, reason: "restaurant opened was opened on 2026-03-08" },
        { line: 3, reason: "restaurant sold has sales since 2026-03-02, and 2026-03-02 is not before that" },
        { line: 4, reason: "restaurant applied has ledger entries already; correct its total with a sale" },
        { line: 5, reason: "2025-12-31 is closed, as is every date up to 2025-12-31" },
        { line: 7, reason: "restaurant fine stands in line 6 already" },
      ],
    });
    await expect(place.open(content, { maxBadLines: 1 })).rejects.toMatchObject({ details: { count: 5 } });
    expect(await openings(place)).toEqual(before);
  });

  it.each([
    { what: "no number", content: "restaurant,total\nsoho,x\n", column: "total", reason: '"x" is no number' },
    {
      what: "no date",
      content: "restaurant,total,Date\nsoho,1,31/12/2025\n",
      column: "Date",
      reason: '"31/12/2025" is no date as yyyy-MM-dd',
    },
    {
      what: "too many decimals",
      content: "restaurant,total\nsoho,1.005\n",
      column: "total",
      reason: '"1.005" has 3 decimals, GBP has 2',
    },
  ])("refuses a line with $what", async ({ content, column, reason }) => {
    await using place = await house();
    await expect(place.open(content)).rejects.toMatchObject({
      code: "bad_lines",
      badLines: [{ line: 2, column, reason }],
    });
    expect(await openings(place)).toEqual([]);
  });

  it("refuses a file without lines, and restaurants that it may not make", async () => {
    await using place = await house();
    await expect(place.open("restaurant,total\n")).rejects.toMatchObject({ code: "file_empty" });
    await expect(place.open("restaurant,total\nsoho,1\n", { create: false })).rejects.toMatchObject({
      badLines: [{ line: 2, column: "restaurant", reason: 'restaurant "soho" is not known' }],
    });
    await expect(place.open("restaurant,amount\nsoho,1\n")).rejects.toMatchObject({ code: "column_missing" });
  });

  it("reads numbers, dates and columns as it is told to", async () => {
    await using place = await house();
    await place.open("Filiale;Stand;Stichtag\nsoho;40.000,50 €;01.02.2026\n", {
      delimiter: ";",
      decimalComma: true,
      currency: "EUR",
      restaurantColumn: "filiale",
      totalColumn: "stand",
      dateColumn: "stichtag",
      dateFormat: "dd.MM.yyyy",
    });
    expect(await openings(place)).toEqual(["soho 2026-02-01 4000050"]);
  });

  it("keeps off a pair that a night has planned: says so, or takes an earlier date, and adds its amount exactly", async () => {
    await using place = await house();
    await place.test.db
      .insertInto("sales.restaurant")
      .values({ id: "soho", name: "Soho", time_zone: creation.zone, cutoff: creation.cutoff, currency: "GBP" })
      .execute();
    const night = await ensureNightlyRun(place.test.database, place.job, Temporal.PlainDate.from("2026-03-08"));
    expect(night.planned).toBe(1);
    const content = "restaurant,total\nsoho,400\n";
    await expect(place.open(content, { date: Temporal.PlainDate.from("2026-03-08") })).rejects.toMatchObject({
      code: "bad_lines",
      badLines: [
        {
          reason: `restaurant soho has an item of 2026-03-08 in run ${night.run.id}, which would take the opening total as its own; open it on an earlier date`,
        },
      ],
    });
    const opened = await place.open(content);
    expect(await openings(place)).toEqual(["soho 2026-03-07 40000"]);
    expect(await applyRun(place, night.run.id)).toEqual(["applied"]);
    expect(await applyRun(place, opened.runId)).toEqual(["applied"]);
    const entries = await place.test.db
      .selectFrom("nightwriter.ledger_entry")
      .select(["run_id", "delta_minor"])
      .orderBy("run_id")
      .execute();
    expect(entries).toEqual([
      { run_id: night.run.id, delta_minor: 0n },
      { run_id: opened.runId, delta_minor: 40_000n },
    ]);
  });

  it("has sales from before it refused when they are imported, unless that is meant", async () => {
    await using place = await house();
    await place.open("restaurant,total,date\nsoho,400,2026-02-28\n");
    const lines = "date,amount\n28/02/2026 12:00,55\n01/03/2026 03:00,1\n01/03/2026 12:00,7\n";
    const options = { ...optionsOf(await place.folder.write("sales.csv", lines)), cutoff: creation.cutoff };
    const why = (date: string): string =>
      `${date} is not after 2026-02-28, and the opening total of that date has all until then; say --before-opening to add it all the same`;
    await expect(importNew(place.test.database, options)).rejects.toMatchObject({
      code: "bad_lines",
      badLines: [
        { line: 2, column: "date", reason: why("2026-02-28") },
        // Before the cutoff: it belongs to the day before.
        { line: 3, column: "date", reason: why("2026-02-28") },
      ],
    });
    const result = await importNew(place.test.database, { ...options, accept: new Set(["before-opening"]) });
    expect(result).toMatchObject({ lines: 3, sums: new Map([["GBP", 63_00n]]) });
  });
});
