/** The source query of a job is changed between two nights: what the old one summed is neither taken on trust nor called wrong for ever. */
import { deployJob, getJob, type JobDefinition } from "@nightwriter/job";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { ensureRequestedRun } from "@nightwriter/run";
import { testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { applyDue, broken, damage, nights, openBooks, verifyEachWay, writeHistory } from "./history.ts";

/** From each sale, a fee of 1 is kept back. */
const netOfFees: JobDefinition = {
  ...restaurantTotals,
  queryVersion: restaurantTotals.queryVersion + 1,
  source: {
    kind: "stamped",
    rows: (db) =>
      db
        .selectFrom("sales.sale")
        .select(["restaurant_id as key", "business_date", "xid", "epoch"])
        .select(sql<bigint>`amount_minor - 1`.as("amount_minor")),
  },
};

test("dates are wrong until they are run again, and then only the new entries are computed again", async () => {
  await using database = await testDatabase();
  await writeHistory(await openBooks(database.database));
  const books = await openBooks(database.database, netOfFees);

  const before = await broken(books);
  expect(before).toHaveLength(9);
  expect(new Set(before.map(({ rule }) => rule))).toEqual(new Set(["entries-equal-sources"]));

  for (const night of nights) {
    const businessDate = Temporal.PlainDate.from(night);
    await ensureRequestedRun(books.database, books.job, { kind: "rerun", businessDate, requestId: `net ${night}` });
  }
  const outcomes = await applyDue(books);
  expect(outcomes).toHaveLength(9);
  expect(outcomes.filter(({ outcome }) => outcome !== "applied")).toEqual([]);
  // 313 + 606 + 906, and a fee for each of ten sales.
  expect(await verifyEachWay(books)).toMatchObject({
    clean: true,
    outstanding: [],
    totalMinor: 1_815n,
    entryCount: 21,
    earlierQueryCount: 12,
  });

  await damage(
    books,
    `update nightwriter.ledger_entry set source_count = 7 where key = 'r0003' and query_version = ${netOfFees.queryVersion}
     and business_date = '${nights[2]}'`,
  );
  expect(await broken(books)).toMatchObject([
    { rule: "delta-from-snapshot", key: "r0003", date: nights[2], measure: "source_count", expected: 1n, actual: 7n },
  ]);
});

test("a build whose query is not in force proves what asks no source, and names the rest", async () => {
  await using database = await testDatabase();
  const books = await openBooks(database.database);
  await writeHistory(books);
  const looking = { ...books, job: await getJob(books.database, netOfFees) };
  const report = await verifyEachWay(looking);
  expect(report).toMatchObject({
    clean: true,
    unproved: ["delta-from-snapshot", "entries-equal-sources"],
    entryCount: 12,
  });
  expect(report.rules.filter(({ status }) => status === "holds").map(({ rule }) => rule)).toEqual(
    report.rules.map(({ rule }) => rule).filter((rule) => !report.unproved.includes(rule)),
  );

  await damage(books, "update nightwriter.key_total set total_minor = total_minor + 1 where key = 'r0002'");
  await damage(
    books,
    "update nightwriter.ledger_entry set delta_minor = delta_minor + 1 where key = 'r0001' and version_after = 2",
  );
  const found = await broken(looking);
  expect(new Set(found.map(({ rule }) => rule))).toEqual(new Set(["total-row", "totals-chain"]));
});

test("after a way back, entries of both times of the query are computed again", async () => {
  await using database = await testDatabase();
  await writeHistory(await openBooks(database.database));
  await openBooks(database.database, netOfFees);
  await deployJob(database.database, restaurantTotals, { reason: "test", changed: async () => undefined });
  const books = await openBooks(database.database);
  expect(books.job).toMatchObject({ queryVersion: 3, otherVersions: [2] });
  const businessDate = Temporal.PlainDate.from(nights[0]);
  await ensureRequestedRun(books.database, books.job, { kind: "rerun", businessDate, requestId: "back" });
  await applyDue(books);
  expect(await verifyEachWay(books)).toMatchObject({ clean: true, earlierQueryCount: 0, entryCount: 15 });
  for (const version of [1, 3]) {
    await damage(
      books,
      `update nightwriter.ledger_entry set source_count = 9 where key = 'r0003' and query_version = ${version}
       and business_date = '${nights[0]}'`,
    );
  }
  expect(await broken(books)).toMatchObject(
    [1n, 4n].map(() => ({ rule: "delta-from-snapshot", key: "r0003", measure: "source_count", actual: 9n })),
  );
});
