import { silentLogger } from "@nightwriter/core";
import { getPartitionCount } from "@nightwriter/job";
import { applyItems, type ItemOutcome } from "@nightwriter/ledger";
import { partitionOf, readTerms, type Term } from "@nightwriter/partition";
import { ensureNightlyRun, finishRuns, lockPlanning, resizePartitions } from "@nightwriter/run";
import { advisoryWaiter, bothPostgres, type HeldBack, heldBack } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { allDue, cancelRun, pauseKey, setItemStatus, type TestJob, testJob } from "./test-job.ts";

const date = "2026-03-14";

/** All partition terms that there are. */
async function termsOf({ db }: TestJob): Promise<{ partition: number; fencing_token: bigint; holder: string }[]> {
  return db
    .selectFrom("nightwriter.partition_term")
    .select(["partition", "fencing_token", "holder"])
    .orderBy("partition")
    .execute();
}

/** The items that are in another partition than their key is, by this count. */
async function misplaced({ db }: TestJob, count: number): Promise<string[]> {
  const items = await db.selectFrom("nightwriter.run_item").select(["key", "run_id", "partition"]).execute();
  return items
    .filter(({ key, partition }) => partition !== partitionOf(key, count))
    .map(({ key }) => key)
    .toSorted();
}

/** Writes the item as whoever still knows the old partition and term would. */
async function applyUnder(
  { database, job }: TestJob,
  term: Term,
  { runId, key }: { readonly runId: bigint; readonly key: string },
): Promise<ItemOutcome | undefined> {
  const [outcome] = await applyItems({ database, job, term, worker: "stale", logger: silentLogger }, [
    { runId, key, businessDate: date },
  ]);
  return outcome;
}

/** Resolves when somebody waits for a row of the terms. */
async function termWaiter({ db }: TestJob): Promise<void> {
  for (;;) {
    const { rows } = await sql`
      select from pg_locks waiting join pg_locks held
        on held.pid = waiting.pid and held.relation = 'nightwriter.partition_term'::regclass
      where waiting.locktype = 'transactionid' and not waiting.granted`.execute(db);
    if (rows.length > 0) return;
  }
}

interface WriteUnderWay extends AsyncDisposable {
  readonly outcome: Promise<ItemOutcome | undefined>;
  readonly goOn: () => Promise<void>;
}

/** A write that has begun and waits for what `block` has locked; its item, the only one, is parked meanwhile, so nothing is due. */
async function writeUnderWay(
  night: TestJob,
  block: (row: HeldBack, key: string) => Promise<void>,
): Promise<WriteUnderWay> {
  const [key = "", other = ""] = night.keys;
  const { run } = await night.plan(date);
  await setItemStatus(night.db, run.id, { key: other, status: "parked" });
  const term = (await readTerms(night.database, night.job))[partitionOf(key, 4)];
  if (term === undefined) throw new Error("the key's partition has no term");
  const row = await heldBack(night.database);
  await block(row, key);
  const outcome = applyUnder(night, term, { runId: run.id, key });
  await row.waitedFor();
  await setItemStatus(night.db, run.id, { key, status: "parked" });
  return { outcome, goOn: () => row.rollback(), [Symbol.asyncDispose]: () => row.rollback() };
}

describe.each(bothPostgres)("resizePartitions on PostgreSQL %s", (server) => {
  it("gives every partition a term that nobody holds, with a larger token of its own, and takes those of no partition away", async () => {
    await using night = await testJob({ server });
    expect(await resizePartitions(night.database, night.job, 6)).toEqual({
      before: 4,
      after: 6,
      fencingToken: 10n,
      movedItems: 0,
    });
    const grown = await termsOf(night);
    const tokens = [5n, 6n, 7n, 8n, 9n, 10n];
    expect(grown).toEqual(tokens.map((fencing_token, partition) => ({ partition, fencing_token, holder: "nobody" })));
    await night.db.updateTable("nightwriter.partition_term").set({ holder: "somebody" }).execute();
    expect(await resizePartitions(night.database, night.job, 2)).toMatchObject({ after: 2, fencingToken: 12n });
    expect(await termsOf(night)).toEqual(
      grown.slice(0, 2).map((term) => ({ ...term, fencing_token: term.fencing_token + 6n })),
    );
    expect(await getPartitionCount(night.database, night.job)).toBe(2);
  });

  it("moves items that are parked, cancelled or paused with their keys, and leaves applied ones where they were", async () => {
    await using night = await testJob({ server, restaurants: 40 });
    const { run } = await night.plan(date);
    const [parked = "", paused = "", cancelled = "", ...others] = night.keys.filter(
      (key) => partitionOf(key, 4) !== partitionOf(key, 7),
    );
    for (const status of ["parked", "cancelled"] as const) {
      await setItemStatus(night.db, run.id, { key: status === "parked" ? parked : cancelled, status });
    }
    await pauseKey(night.db, paused);
    await night.applyDue();
    await setItemStatus(night.db, run.id, { key: others[0] ?? "", status: "parked" });
    expect(await resizePartitions(night.database, night.job, 7)).toMatchObject({ before: 4, after: 7, movedItems: 3 });
    expect(await misplaced(night, 7)).toEqual(others);

    await night.db.updateTable("nightwriter.key_total").set({ paused_at: null }).execute();
    await night.db.updateTable("nightwriter.run_item").set({ status: "due" }).execute();
    const job = { ...night.job, partitionCount: 7 };
    const due = await allDue(night.database, job);
    expect(due.map(({ key, partition }) => [key, partition])).toEqual(
      [parked, paused, cancelled].toSorted().map((key) => [key, partitionOf(key, 7)]),
    );
    const terms = await readTerms(night.database, job);
    for (const { key, partition } of due) {
      const term = terms[partition];
      expect(term && (await applyUnder(night, term, { runId: run.id, key }))).toMatchObject({ outcome: "applied" });
    }
  });

  it("moves what a cancelled run has left", async () => {
    await using night = await testJob({ server, restaurants: 20 });
    const { run } = await night.plan(date);
    await cancelRun(night.db, run.id);
    await resizePartitions(night.database, night.job, 5);
    expect(await misplaced(night, 5)).toEqual([]);
  });

  it("refuses whoever still writes under a term of the old count", async () => {
    await using night = await testJob({ server });
    const [key = ""] = night.keys;
    const before = (await readTerms(night.database, night.job))[partitionOf(key, 4)];
    await resizePartitions(night.database, night.job, 8);
    const { run } = await night.plan(date);
    // Its new partition may have the old one's number: the term alone has to tell.
    const stale = before && { ...before, partition: partitionOf(key, 8) };
    expect(stale && (await applyUnder(night, stale, { runId: run.id, key }))).toEqual({
      outcome: "fenced",
      storedToken: 5n + BigInt(partitionOf(key, 8)),
    });
    await night.applyDue();
  });

  it("says which runs have due items, and changes nothing then", async () => {
    await using night = await testJob({ server, restaurants: 3 });
    const { run } = await night.plan(date);
    await night.applyDue(night.keys.slice(0, 1));
    const refused = resizePartitions(night.database, night.job, 8);
    await expect(refused).rejects.toMatchObject({
      code: "items_in_flight",
      message: expect.stringContaining(`items are due in run ${run.id} (2);`),
      details: { job: night.job.definition.name, runs: String(run.id), due: 2n },
    });
    expect(await getPartitionCount(night.database, night.job)).toBe(4);
    expect((await termsOf(night)).map(({ fencing_token }) => fencing_token)).toEqual([1n, 2n, 3n, 4n]);
    await night.applyDue();
    await finishRuns(night.database, night.job);
    expect(await resizePartitions(night.database, night.job, 8)).toMatchObject({ after: 8 });
  });

  it("changes nothing where the count is that one already, items due or not", async () => {
    await using night = await testJob({ server });
    await night.plan(date);
    const unchanged = { before: 4, after: 4, fencingToken: undefined, movedItems: 0 };
    expect(await resizePartitions(night.database, night.job, 4)).toEqual(unchanged);
    expect((await termsOf(night)).map(({ fencing_token }) => fencing_token)).toEqual([1n, 2n, 3n, 4n]);
  });

  it("waits for a planner under way, and then is refused because of what it planned", async () => {
    await using night = await testJob({ server });
    await using other = await heldBack(night.database);
    // The planner has the lock; the row that it is about to make a run beside is somebody's.
    await other.run("lock table nightwriter.run in exclusive mode");
    const planning = night.plan(date);
    await other.waitedFor();
    const resizing = resizePartitions(night.database, night.job, 8).catch((error: unknown) => error);
    await Promise.race([advisoryWaiter(night.db), resizing]);
    await other.rollback();
    expect(await planning).toMatchObject({ planned: 2 });
    expect(await resizing).toMatchObject({ code: "items_in_flight" });
    expect(await misplaced(night, 4)).toEqual([]);
  });

  it("lets a planner that waited for it plan by the new count", async () => {
    await using night = await testJob({ server, restaurants: 20 });
    const locked = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    const holding = night.db.transaction().execute(async (transaction) => {
      await lockPlanning(transaction, night.job.id);
      locked.resolve();
      await goOn.promise;
    });
    await locked.promise;
    const resizing = resizePartitions(night.database, night.job, 9);
    await Promise.race([advisoryWaiter(night.db), resizing]);
    // Who waits for an advisory lock gets it in the order of asking.
    const planning = ensureNightlyRun(night.database, night.job, Temporal.PlainDate.from(date));
    goOn.resolve();
    await holding;
    expect(await resizing).toMatchObject({ after: 9 });
    expect(await planning).toMatchObject({ planned: 20 });
    expect(await misplaced(night, 9)).toEqual([]);
  });

  it("waits for a write that has its term, and finds the item applied", async () => {
    await using night = await testJob({ server });
    await using write = await writeUnderWay(night, (row, key) =>
      row.run(
        `insert into nightwriter.ledger_entry (job_id, run_id, key, business_date, delta_minor, source_count, fencing_token,
           version_after, total_after, source_snapshot, worker)
         values ($1, 0, $2, $3, 0, 0, 1, 1, 0, pg_current_snapshot(), 'rolled back')`,
        [night.job.id, key, date],
      ),
    );
    const resizing = resizePartitions(night.database, night.job, 8);
    await Promise.race([termWaiter(night), resizing]);
    expect(await getPartitionCount(night.database, night.job)).toBe(4);
    await write.goOn();
    expect(await write.outcome).toMatchObject({ outcome: "applied" });
    expect(await resizing).toMatchObject({ after: 8 });
  });

  it("shuts out a write that has not got to its term yet", async () => {
    await using night = await testJob({ server });
    await using write = await writeUnderWay(night, (row, key) =>
      row.run("select from nightwriter.key_total where key = $1 for update", [key]),
    );
    expect(await resizePartitions(night.database, night.job, 8)).toMatchObject({ after: 8 });
    await write.goOn();
    expect(await write.outcome).toEqual({ outcome: "withdrawn", reason: "parked" });
    expect(await night.db.selectFrom("nightwriter.ledger_entry").select("key").execute()).toEqual([]);
  });
});
