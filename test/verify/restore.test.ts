/** A dump, restored into another cluster: transaction ids begin anew there, and mean something else. */
import { join } from "node:path";
import { migrateToLatest, openDatabase } from "@nightwriter/database";
import { verify } from "@nightwriter/ledger";
import { ensureServer, type PostgresService, startPostgres } from "@nightwriter/services";
import { recordSales } from "@nightwriter/testkit";
import { execa } from "execa";
import { sql } from "kysely";
import { expect, test } from "vitest";
import {
  type Books,
  broken,
  damage,
  nights,
  now,
  openBooks,
  runNight,
  verifyEachWay,
  writeHistory,
} from "./history.ts";

const fourth = "2026-03-04";
const late = [{ restaurant: "r0003", businessDate: nights[0], amountMinor: 9 }];

/** Ids of the old cluster that the new one will hand out again. */
async function spendTransactionIds({ database }: Books): Promise<void> {
  await sql`do $$ begin for i in 1..3000 loop perform pg_current_xact_id(); commit; end loop; end $$`.execute(
    database.db,
  );
}

/** Debian's server brings its pg_dump along; the one from npm has none. */
async function restore(from: PostgresService, to: PostgresService): Promise<void> {
  const dump = execa(join(from.binDir, "pg_dump"), [`--dbname=${from.url}`]);
  const psql = ["--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", `--dbname=${to.url}`];
  await dump.pipe(join(to.binDir, "psql"), psql);
}

test("a dump that is restored into another cluster goes on in a new epoch", { timeout: 120_000 }, async () => {
  const settings = { fsync: "off" };
  const binDir = await ensureServer("postgres-15");
  await using old = await startPostgres({ binDir, settings });
  await using fresh = await startPostgres({ binDir, settings });
  {
    await using database = openDatabase({ url: old.url, applicationName: "test of verify" });
    await migrateToLatest(database);
    const books = await openBooks(database);
    await spendTransactionIds(books);
    await writeHistory(books);
    expect(await verifyEachWay(books)).toMatchObject({ clean: true, epochs: [{ epoch: 1 }] });
  }
  await restore(old, fresh);

  await using database = openDatabase({ url: fresh.url, applicationName: "test of verify" });
  const job = await openBooks(database);
  // Read only, so it needs no epoch: what was restored can be proved before anything is written.
  expect(await verify(database, job.job, { now })).toMatchObject({ clean: true, entryCount: 12 });
  await expect(recordSales(database.db, late)).rejects.toThrow(
    "this database was restored into another cluster and has no epoch in it yet; run: nightwriter migrate",
  );
  expect(await migrateToLatest(database)).toEqual({ applied: [], epoch: { epoch: 2, started: true } });
  await recordSales(database.db, late);
  expect(await verifyEachWay(job)).toMatchObject({
    clean: true,
    outstanding: [{ reason: "unplanned", amountMinor: 9n }],
  });

  // Without the epoch, its id would be one that the old cluster's snapshots saw end: lost to every plan, and an offence.
  await damage(job, "update sales.sale set epoch = 1 where amount_minor = 9");
  const pair = { key: "r0003", date: nights[0] };
  expect(await broken(job)).toEqual([
    { ...pair, rule: "delta-from-snapshot", version: 1n, measure: "delta_minor", expected: 310n, actual: 301n },
    { ...pair, rule: "delta-from-snapshot", version: 1n, measure: "source_count", expected: 2n, actual: 1n },
    { ...pair, rule: "entries-equal-sources", measure: "sum of deltas", expected: 310n, actual: 301n },
  ]);
  await damage(job, "update sales.sale set epoch = 2 where amount_minor = 9");

  await recordSales(database.db, [{ restaurant: "r0001", businessDate: fourth, amountMinor: 104 }]);
  await runNight(job, fourth);
  const report = await verifyEachWay(job);
  expect(report).toMatchObject({ clean: true, outstanding: [], entryCount: 16, totalMinor: 1825n + 9n + 104n });
  expect(report.epochs.map((each) => each.epoch)).toEqual([1, 2]);
  expect(Temporal.Instant.compare(report.epochs[0]?.startedAt ?? now, report.epochs[1]?.startedAt ?? now)).toBe(-1);
});
