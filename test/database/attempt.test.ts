/** What did not apply is kept once for each item, outcome and holder, whoever inserts it. */
import { migrateToLatest } from "@nightwriter/database";
import { bothPostgres, testDatabase } from "@nightwriter/testkit";
import { type Kysely, sql } from "kysely";
import { describe, expect, test } from "vitest";
import { coreBefore } from "./core-lists.ts";
import { emptiedDatabase } from "./emptied.ts";

/** As every build has inserted it: a plain row, without a word of what is there. */
function insert(reason: string, { key = "r0001", worker = "w1" }: { key?: string; worker?: string } = {}) {
  return sql`insert into nightwriter.attempt (run_id, business_date, key, outcome, reason, sqlstate, fencing_token, worker)
    values (1, '2026-03-01', ${key}, 'unknown', ${reason}, '57014', 7, ${worker})`;
}

async function rows<T>(db: Kysely<T>): Promise<unknown[]> {
  const answer =
    await sql`select key, worker, reason, count::int, attempted_at = last_at as is_last from nightwriter.attempt
    order by key, worker`.execute(db);
  return answer.rows;
}

describe.each(bothPostgres)("attempts on PostgreSQL %s", (server) => {
  test("are added to the row of their item, outcome and holder, with the last reason", async () => {
    await using night = await testDatabase({ server });
    for (const reason of ["first", "second", "third"]) await insert(reason).execute(night.db);
    await insert("its own", { worker: "w2" }).execute(night.db);
    await insert("its own", { key: "r0002" }).execute(night.db);
    expect(await rows(night.db)).toEqual([
      { key: "r0001", worker: "w1", reason: "third", count: 3, is_last: true },
      { key: "r0001", worker: "w2", reason: "its own", count: 1, is_last: true },
      { key: "r0002", worker: "w1", reason: "its own", count: 1, is_last: true },
    ]);
    const { rows: spans } = await sql`select count(*) filter (where first_at < last_at)::int as spans
      from nightwriter.attempt`.execute(night.db);
    expect(spans).toEqual([{ spans: 1 }]);
  });

  test("break no insert when many come at once for a row that is not there yet", async () => {
    await using night = await testDatabase({ server, max: 8 });
    await Promise.all(Array.from({ length: 40 }, async () => insert("at once").execute(night.db)));
    expect(await rows(night.db)).toMatchObject([{ key: "r0001", count: 40 }]);
  });

  test("of before are collapsed by the migration, the last reason of each kept", async () => {
    await using night = await emptiedDatabase(server);
    await migrateToLatest(night.database, { lists: coreBefore("0006") });
    for (const [reason, minute] of Object.entries({ first: 1, second: 2, third: 3 })) {
      await insert(reason).execute(night.db);
      await insert(`${reason} of another`, { worker: "w2" }).execute(night.db);
      await sql`alter table nightwriter.attempt disable trigger attempt_append_only`.execute(night.db);
      await sql`update nightwriter.attempt set attempted_at = '2026-03-02 00:00+00'::timestamptz + make_interval(mins => ${minute})
        where reason like ${`${reason}%`}`.execute(night.db);
      await sql`alter table nightwriter.attempt enable trigger attempt_append_only`.execute(night.db);
    }
    await migrateToLatest(night.database);
    expect(await rows(night.db)).toEqual([
      { key: "r0001", worker: "w1", reason: "third", count: 3, is_last: true },
      { key: "r0001", worker: "w2", reason: "third of another", count: 3, is_last: true },
    ]);
    const { rows: spans } = await sql`select distinct date_part('minute', first_at at time zone 'UTC')::int as first,
      date_part('minute', last_at at time zone 'UTC')::int as last from nightwriter.attempt`.execute(night.db);
    expect(spans).toEqual([{ first: 1, last: 3 }]);
    await insert("fourth").execute(night.db);
    expect(await rows(night.db)).toMatchObject([{ reason: "fourth", count: 4 }, { count: 3 }]);
  });
});
