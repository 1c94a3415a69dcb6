/** What one key's data do to the others of its batch: nothing, whatever the server says of them. */
import { silentLogger } from "@nightwriter/core";
import { applyItems, type Item, type ItemOutcome } from "@nightwriter/ledger";
import { bothPostgres } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { breakKeys, brokenTotals, mendKeys, prepareBroken } from "./broken-keys.ts";
import { apply, books, date, type Night, openNight, plan } from "./night.ts";

/** A night whose job reads its source through what may be broken. */
async function openBroken(server: "15" | "18", count: number): Promise<Night> {
  const night = await openNight(server, count);
  await prepareBroken(night.test.db);
  return { ...night, job: { ...night.job, definition: brokenTotals } };
}

function byKey(items: readonly Item[], outcomes: readonly ItemOutcome[]): Map<string, ItemOutcome> {
  return new Map(items.map(({ key }, index) => [key, outcomes[index] as ItemOutcome]));
}

async function parkedFor({ test: { db } }: Night): Promise<Record<string, string | null>> {
  const rows = await db
    .selectFrom("nightwriter.run_item")
    .select(["key", "parked_for"])
    .where("status", "=", "parked")
    .execute();
  return Object.fromEntries(rows.map(({ key, parked_for }) => [key, parked_for]));
}

describe.each(bothPostgres)("one key's data on PostgreSQL %s", (server) => {
  const states = {
    r0003: "21000",
    r0011: "P0002",
    r0012: "23503",
    r0020: "XX001",
    r0021: "38001",
    r0033: "39004",
    r0034: "54001",
    r0035: "42P01",
    r0047: "23505",
    r0050: "0A000",
  } as const;

  test("are parked with their SQLSTATE, whatever it is, and all the others are applied", async () => {
    await using night = await openBroken(server, 50);
    await breakKeys(night.test.db, states);
    const items = await plan(night, { request: "a" });
    const outcomes = byKey(items, await apply(night, items));
    for (const [key, outcome] of outcomes) {
      const sqlstate = (states as Readonly<Record<string, string>>)[key];
      expect(outcome, key).toMatchObject(
        sqlstate === undefined ? { outcome: "applied" } : { outcome: "parked", sqlstate },
      );
    }
    expect(await parkedFor(night)).toEqual(states);
  });

  test("are nobody's when the server meets weather", async () => {
    await using night = await openBroken(server, 3);
    const items = await plan(night, { request: "a" });
    for (const sqlstate of ["08006", "25006", "40001", "53200", "55006", "57014", "58030"]) {
      await breakKeys(night.test.db, { r0002: sqlstate });
      const unknown = { outcome: "unknown", fault: { code: "weather", sqlstate } };
      expect(await apply(night, items), sqlstate).toMatchObject([unknown, unknown, unknown]);
    }
    expect(await parkedFor(night)).toEqual({});
  });

  test("are not blamed for a statement that fails over no items as well", async () => {
    await using night = await openBroken(server, 5);
    const items = await plan(night, { request: "a" });
    await sql`drop function checked`.execute(night.test.db);
    await expect(apply(night, items)).rejects.toMatchObject({ sqlstate: "42883" });
    expect(await parkedFor(night)).toEqual({});
  });

  test("are not blamed for an error of data that the statement meets while it is planned", async () => {
    await using night = await openNight(server, 3);
    const rows = () => sql<never>`(select id as key, ${sql.lit(date)}::date as business_date, 1::bigint as amount_minor,
      pg_current_xact_id() as xid, 1 as epoch from sales.restaurant where (1 / 0) = 1)`;
    const job = { ...night.job, definition: { ...night.job.definition, source: { kind: "stamped" as const, rows } } };
    const items = await plan(night, { request: "a" });
    await expect(apply({ ...night, job }, items)).rejects.toMatchObject({ sqlstate: "22012" });
    expect(await parkedFor(night)).toEqual({});
  });

  test("are not blamed for what the server refuses once, and not again", async () => {
    await using night = await openBroken(server, 1);
    await sql`create sequence tries`.execute(night.test.db);
    await sql`create or replace function checked(given text, amount bigint) returns bigint language plpgsql as $$
      begin
        if nextval('public.tries') = 1 then raise exception 'tuple concurrently updated' using errcode = 'XX000'; end if;
        return amount;
      end $$`.execute(night.test.db);
    expect(await apply(night, await plan(night, { request: "a" }))).toMatchObject([{ outcome: "applied" }]);
  });

  test("do not hold up a trigger's verdict on another key", async () => {
    await using night = await openBroken(server, 20);
    await sql`create table audit (key text primary key)`.execute(night.test.db);
    await sql`insert into audit values ('r0007')`.execute(night.test.db);
    await sql`create function note() returns trigger language plpgsql as
      $$ begin insert into public.audit values (new.key); return new; end $$`.execute(night.test.db);
    await sql`create trigger note after update on nightwriter.key_total for each row execute function note()`.execute(
      night.test.db,
    );
    const items = await plan(night, { request: "a" });
    const outcomes = byKey(items, await apply(night, items));
    expect(outcomes.get("r0007")).toMatchObject({ outcome: "parked", sqlstate: "23505" });
    expect([...outcomes.values()].filter(({ outcome }) => outcome === "applied")).toHaveLength(19);
  });
});

describe.each(bothPostgres)("a cause that most keys share, on PostgreSQL %s", (server) => {
  const keys = Array.from({ length: 130 }, (_, index) => `r${String(index + 1).padStart(4, "0")}`);
  const all = Object.fromEntries(keys.map((key) => [key, "21000"]));
  const count = (outcomes: readonly ItemOutcome[], outcome: string): number =>
    outcomes.filter((each) => each.outcome === outcome).length;

  test("parks a hundred items of a run, or five in a hundred, and leaves the rest due until it is mended", async () => {
    await using night = await openBroken(server, keys.length);
    const { db } = night.test;
    await breakKeys(db, all);
    const items = await plan(night, { request: "a" });
    const [{ runId } = { runId: 0n }] = items;
    const halves = await Promise.all([apply(night, items.slice(0, 60)), apply(night, items.slice(60))]);
    const outcomes = halves.flat();
    expect([count(outcomes, "parked"), count(outcomes, "failing")]).toEqual([100, 30]);
    const due = items.filter((_, index) => outcomes[index]?.outcome === "failing");
    expect(Object.keys(await parkedFor(night))).toHaveLength(100);

    // Another cause has a hundred of its own, and of 2,100 items five in a hundred are more.
    await breakKeys(db, { [due[0]?.key ?? ""]: "P0002" });
    await sql`insert into nightwriter.run_item (run_id, business_date, key, partition)
      select ${runId}, ${date}, 'x' || i, 1 from generate_series(1, 1970) i`.execute(db);
    const later = await apply(night, due.slice(0, 10));
    expect([count(later, "parked"), count(later, "failing")]).toEqual([6, 4]);
    expect(later[0]).toMatchObject({ outcome: "parked", sqlstate: "P0002" });

    await mendKeys(db);
    expect(count(await apply(night, due), "applied")).toBe(24);
  });
});

describe.each(bothPostgres)("damaged rows on PostgreSQL %s", (server) => {
  test("a total's row behind its ledger is parked as such, and the others of its batch are applied", async () => {
    await using night = await openNight(server, 50);
    const { db } = night.test;
    await sql`update nightwriter.key_total set version = 0, total_minor = 0 where key in ('r0007', 'r0031')`.execute(
      db,
    );
    const items = await plan(night, { request: "a" });
    const outcomes = byKey(items, await apply(night, items));
    for (const key of ["r0007", "r0031"]) {
      expect(outcomes.get(key)).toMatchObject({
        outcome: "parked",
        damage: "row behind its ledger",
        reason: expect.stringMatching(/^row behind its ledger: .* version 0, its ledger has entry 1/),
      });
    }
    expect([...outcomes.values()].filter(({ outcome }) => outcome === "applied")).toHaveLength(48);
    expect(await parkedFor(night)).toEqual({ r0007: "row behind its ledger", r0031: "row behind its ledger" });
    expect(await apply(night, items.slice(6, 7))).toEqual([{ outcome: "withdrawn", reason: "parked" }]);
  });

  test("a total's row that is gone is parked as such, and one made anew beside entries counts as behind", async () => {
    await using night = await openNight(server, 3);
    const { db } = night.test;
    await sql`set session_replication_role = replica; delete from nightwriter.key_total where key in ('r0001', 'r0002')`.execute(
      db,
    );
    await sql`reset session_replication_role`.execute(db);
    await sql`insert into nightwriter.key_total (job_id, key) values (${night.job.id}, 'r0002')`.execute(db);
    const outcomes = await apply(night, await plan(night, { request: "a" }));
    expect(outcomes).toMatchObject([
      { outcome: "parked", damage: "row missing" },
      { outcome: "parked", damage: "row behind its ledger" },
      { outcome: "applied" },
    ]);
  });

  test("a row's token above the job's counter is parked as such and ends nobody's term", async () => {
    await using night = await openNight(server, 3);
    const { db } = night.test;
    await sql`update nightwriter.key_total set fencing_token = 1000000000 where key = 'r0002'`.execute(db);
    const items = await plan(night, { request: "a" });
    const outcomes = await apply(night, items);
    expect(outcomes).toMatchObject([
      { outcome: "applied" },
      { outcome: "parked", damage: "token above the counter", reason: expect.stringContaining("1000000000") },
      { outcome: "applied" },
    ]);
    expect(await books(night, "r0002")).toMatchObject({ total: 1_000n, version: 1n });
  });

  test("a counter below a term's token is told as the job's damage, and nobody is parked", async () => {
    await using night = await openNight(server, 2);
    const { db } = night.test;
    await sql`update nightwriter.job set fencing_token = 0`.execute(db);
    await sql`update nightwriter.key_total set fencing_token = 5 where key = 'r0002'`.execute(db);
    const lines: string[] = [];
    const logger = { ...silentLogger, error: (_: object, message = "") => void lines.push(message) };
    const { job, term } = night;
    const items = await plan(night, { request: "a" });
    const outcomes = await applyItems({ database: night.test.database, job, term, worker: "test", logger }, items);
    expect(outcomes).toMatchObject([{ outcome: "applied" }, { outcome: "fenced", storedToken: 5n }]);
    expect(lines[0]).toContain("its counter 0 is below token 1 of a term");
    expect(await parkedFor(night)).toEqual({});
  });
});
