/** Every outcome of a write, each brought about for real. */
import { silentLogger } from "@nightwriter/core";
import { registerJob } from "@nightwriter/job";
import { applyItems } from "@nightwriter/ledger";
import { bothPostgres, recordSales } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { applied, apply, books, date, type Night, openNight, plan } from "./night.ts";

async function attempts({ test: { db } }: Night): Promise<object[]> {
  return db
    .selectFrom("nightwriter.attempt")
    .select(["key", "outcome", "reason", "sqlstate"])
    .orderBy("first_at")
    .orderBy("key")
    .execute();
}

describe.each(bothPostgres)("applyItems on PostgreSQL %s", (server) => {
  test("returns applied and adds the whole day on the first run", async () => {
    await using night = await openNight(server);
    const [outcome] = await apply(night, await plan(night, { request: "a" }));
    expect(outcome).toEqual({
      outcome: "applied",
      deltaMinor: 120n,
      sourceCount: 1n,
      totalAfter: 1_120n,
      versionAfter: 2n,
    });
    expect(await books(night)).toEqual({ total: 1_120n, version: 2n, deltas: [1_000n, 120n] });
    expect(await attempts(night)).toEqual([]);
  });

  test("adds only the difference on a second run, and a zero entry as proof on a third", async () => {
    await using night = await openNight(server);
    await apply(night, await plan(night, { request: "a" }));
    await recordSales(night.test.db, [{ restaurant: "r0001", businessDate: date, amountMinor: -30 }]);
    const second = await apply(night, await plan(night, { request: "b" }));
    const third = await apply(night, await plan(night, { request: "c" }));
    expect(applied(second[0])).toMatchObject({ deltaMinor: -30n, sourceCount: 2n });
    expect(applied(third[0])).toMatchObject({ deltaMinor: 0n, versionAfter: 4n });
    expect(await books(night)).toEqual({ total: 1_090n, version: 4n, deltas: [1_000n, 120n, -30n, 0n] });
  });

  test("returns duplicate and leaves the total unchanged when the item was applied before", async () => {
    await using night = await openNight(server);
    const items = await plan(night, { request: "a" });
    await apply(night, items);
    expect(await apply(night, items)).toEqual([{ outcome: "duplicate" }]);
    expect(await books(night)).toMatchObject({ total: 1_120n, version: 2n });
    expect(await attempts(night)).toMatchObject([{ key: "r0001", outcome: "duplicate" }]);
  });

  test("tells with duplicate that the term is over: whoever slept while others did its work must hear of it", async () => {
    await using night = await openNight(server);
    const items = await plan(night, { request: "a" });
    await apply(night, items);
    await night.test.db.updateTable("nightwriter.partition_term").set({ fencing_token: 34n }).execute();
    expect(await apply(night, items)).toEqual([{ outcome: "duplicate", storedToken: 34n }]);
    const { partition, nonce } = night.term;
    expect(await apply(night, items, { partition, nonce, fencingToken: 34n })).toEqual([{ outcome: "duplicate" }]);
  });

  test("returns duplicate, and parks nothing, when what came since can no longer be added up", async () => {
    await using night = await openNight(server);
    const items = await plan(night, { request: "a" });
    await apply(night, items);
    const largest = { restaurant: "r0001", businessDate: date, amountMinor: 9_223_372_036_854_775_807n };
    await recordSales(night.test.db, [largest, largest]);
    expect(await apply(night, items)).toEqual([{ outcome: "duplicate" }]);
  });

  test("returns fenced when the partition's token is above mine, below mine, or mine with another nonce", async () => {
    await using night = await openNight(server);
    const items = await plan(night, { request: "a" });
    const { term } = night;
    const set = (token: bigint, nonce: string) =>
      night.test.db.updateTable("nightwriter.partition_term").set({ fencing_token: token, nonce }).execute();
    await set(34n, term.nonce);
    expect(await apply(night, items, { ...term, fencingToken: 33n })).toEqual([
      { outcome: "fenced", storedToken: 34n },
    ]);
    expect(await apply(night, items, { ...term, fencingToken: 35n })).toEqual([
      { outcome: "fenced", storedToken: 34n },
    ]);
    await set(35n, "6f0f4a3e-3a0e-4f43-8d2f-0a8f4f1c1d11");
    expect(await apply(night, items, { ...term, fencingToken: 35n })).toEqual([
      { outcome: "fenced", storedToken: 35n },
    ]);
    expect(await books(night)).toMatchObject({ total: 1_000n, version: 1n });
  });

  test("returns fenced when the key was written under a higher token than mine", async () => {
    await using night = await openNight(server);
    const items = await plan(night, { request: "a" });
    await night.test.db.updateTable("nightwriter.job").set({ fencing_token: 34n }).execute();
    await night.test.db.updateTable("nightwriter.key_total").set({ fencing_token: 34n }).execute();
    expect(await apply(night, items)).toEqual([{ outcome: "fenced", storedToken: 34n }]);
    expect(await books(night)).toMatchObject({ total: 1_000n });
  });

  test("returns withdrawn with its reason for what is cancelled, parked, paused or not planned", async () => {
    await using night = await openNight(server, 5);
    const { db } = night.test;
    const items = await plan(night, { request: "a" });
    const set = (key: string, status: "parked" | "cancelled") =>
      db.updateTable("nightwriter.run_item").set({ status }).where("key", "=", key).execute();
    await set("r0001", "cancelled");
    await set("r0002", "parked");
    await db.updateTable("nightwriter.key_total").set({ paused_at: new Date() }).where("key", "=", "r0003").execute();
    await db.deleteFrom("nightwriter.run_item").where("key", "=", "r0004").execute();
    const outcomes = await apply(night, items);
    expect(outcomes.slice(0, 4)).toEqual(
      ["cancelled", "parked", "paused", "unplanned"].map((reason) => ({ outcome: "withdrawn", reason })),
    );
    expect(applied(outcomes[4]).deltaMinor).toBe(120n);
  });

  test("returns withdrawn for every item of a cancelled run", async () => {
    await using night = await openNight(server);
    const items = await plan(night, { request: "a" });
    await night.test.db.updateTable("nightwriter.run").set({ cancelled_at: new Date() }).execute();
    expect(await apply(night, items)).toEqual([{ outcome: "withdrawn", reason: "cancelled" }]);
  });

  test("returns withdrawn for a date that was closed, whose archived source would be subtracted", async () => {
    await using night = await openNight(server);
    const items = await plan(night, { request: "a" });
    await night.test.db.updateTable("nightwriter.job").set({ closed_through: date }).execute();
    expect(await apply(night, items)).toEqual([{ outcome: "withdrawn", reason: "closed" }]);
    expect(await books(night)).toMatchObject({ total: 1_000n });
  });

  test("returns withdrawn for an item of another job's run", async () => {
    await using night = await openNight(server);
    const items = await plan(night, { request: "a" });
    const other = await registerJob(night.test.database, { ...night.job.definition, name: "other" });
    await night.test.db.updateTable("nightwriter.run").set({ job_id: other.id }).execute();
    expect(await apply(night, items)).toEqual([{ outcome: "withdrawn", reason: "unplanned" }]);
  });

  test("throws and writes nothing when a newer build has changed what the source query sums", async () => {
    await using night = await openNight(server);
    const items = await plan(night, { request: "a" });
    await registerJob(night.test.database, { ...night.job.definition, queryVersion: 2 });
    await expect(apply(night, items)).rejects.toMatchObject({ code: "query_version_differs" });
    expect(await books(night)).toMatchObject({ total: 1_000n });
  });

  test("parks the keys whose own data cannot be added, with their error, and applies all the others", async () => {
    await using night = await openNight(server, 9);
    const largest = 9_223_372_036_854_775_807n;
    await recordSales(night.test.db, [
      { restaurant: "r0002", businessDate: date, amountMinor: largest },
      { restaurant: "r0007", businessDate: date, amountMinor: largest },
    ]);
    const items = await plan(night, { request: "a" });
    const outcomes = await apply(night, items);
    expect(outcomes.map((outcome) => outcome.outcome)).toEqual(
      items.map(({ key }) => (key === "r0002" || key === "r0007" ? "parked" : "applied")),
    );
    expect(outcomes[1]).toMatchObject({ sqlstate: "22003" });
    const parked = await night.test.db
      .selectFrom("nightwriter.run_item")
      .select(["key"])
      .where("status", "=", "parked")
      .orderBy("key")
      .execute();
    expect(parked).toEqual([{ key: "r0002" }, { key: "r0007" }]);
    expect(await attempts(night)).toMatchObject(
      ["r0002", "r0007"].map((key) => ({ key, outcome: "parked", sqlstate: "22003" })),
    );
    expect(await apply(night, items.slice(1, 2))).toEqual([{ outcome: "withdrawn", reason: "parked" }]);
  });

  test("sends no further write when none may be sent any more: what is not written yet is a conflict", async () => {
    await using night = await openNight(server, 4);
    const largest = 9_223_372_036_854_775_807n;
    await recordSales(
      night.test.db,
      [largest, largest].map((amountMinor) => ({ restaurant: "r0003", businessDate: date, amountMinor })),
    );
    const items = await plan(night, { request: "a" });
    // The whole batch, its first half, and no more.
    let writes = 0;
    const mayWrite = (): boolean => (writes += 1) <= 2;
    const { database } = night.test;
    const context = { database, job: night.job, term: night.term, worker: "test", logger: silentLogger, mayWrite };
    const outcomes = (await applyItems(context, items)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(["applied", "applied", "conflict", "conflict"]);
    expect(await applyItems({ ...context, mayWrite: () => true }, items)).toMatchObject([
      { outcome: "duplicate" },
      { outcome: "duplicate" },
      { outcome: "parked" },
      { outcome: "applied" },
    ]);
  });

  test("parks a key whose source raises an error of its own", async () => {
    await using night = await openNight(server, 3);
    const source = sql`(select id as key, ${date}::date as business_date,
      case id when 'r0002' then sales.refuse(id) else 7::bigint end as amount_minor,
      pg_current_xact_id() as xid, 1 as epoch from sales.restaurant)`;
    await sql`create function sales.refuse(id text) returns bigint language plpgsql as
      $$ begin raise exception 'till % is broken', id; end $$`.execute(night.test.db);
    const { definition } = night.job;
    const job = {
      ...night.job,
      definition: { ...definition, source: { kind: "stamped" as const, rows: () => source as never } },
    };
    const outcomes = await apply({ ...night, job }, await plan(night, { request: "a" }));
    expect(outcomes.map((outcome) => outcome.outcome)).toEqual(["applied", "parked", "applied"]);
    expect(outcomes[1]).toMatchObject({ sqlstate: "P0001", reason: expect.stringContaining("till r0002 is broken") });
  });

  test("returns unknown, parks nothing and leaves the items due when the backend is terminated in mid-write", async () => {
    await using night = await openNight(server);
    const items = await plan(night, { request: "a" });
    const outcomes = await night.test.database.session(async (session) => {
      await session.query("begin");
      await session.query("select 1 from nightwriter.key_total for update");
      const writing = apply(night, items);
      await sql`do $$ begin
        while not exists (select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') loop
          perform pg_stat_clear_snapshot();
        end loop; end $$`.execute(night.test.db);
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(night.test.db);
      const settled = await writing;
      await session.query("rollback");
      return settled;
    });
    expect(outcomes).toMatchObject([{ outcome: "unknown", fault: { code: "lost" } }]);
    expect(await attempts(night)).toMatchObject([{ outcome: "unknown" }]);
    expect((await apply(night, items)).map((outcome) => outcome.outcome)).toEqual(["applied"]);
  });

  test("throws and writes nothing when the statement itself is wrong", async () => {
    await using night = await openNight(server);
    const items = await plan(night, { request: "a" });
    await sql`alter table sales.sale rename column amount_minor to amount`.execute(night.test.db);
    await expect(apply(night, items)).rejects.toMatchObject({ code: "bug", sqlstate: "42703" });
    expect(await books(night)).toMatchObject({ total: 1_000n });
  });

  test("refuses a batch that has a key twice, since one of two source rows for a target would be dropped", async () => {
    await using night = await openNight(server);
    const items = [...(await plan(night, { request: "a" })), ...(await plan(night, { request: "b" }))];
    await expect(apply(night, items)).rejects.toThrow("a key is in it twice");
  });
});
