/** What the database does by itself when a term begins or ends, whichever build it is that begins or ends it. */
import { migrateToLatest } from "@nightwriter/database";
import { type Job, registerJob } from "@nightwriter/job";
import { raiseTerm, readTerms, sealTerm, type Term } from "@nightwriter/partition";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { bothPostgres, heldBack, type PostgresVersion, type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { coreBefore } from "../database/core-lists.ts";
import { emptiedDatabase } from "../database/emptied.ts";

interface Fixture extends AsyncDisposable {
  readonly test: TestDatabase;
  readonly job: Job;
  raise(partition: number): Promise<Term>;
}

async function openJob(server: PostgresVersion, partitionCount = 3): Promise<Fixture> {
  const test = await testDatabase({ server, max: 8 });
  const job = await registerJob(test.database, { ...restaurantTotals, partitionCount });
  return {
    test,
    job,
    raise: (partition) => raiseTerm(test.database, job, { partition, holder: "left", nonce: crypto.randomUUID() }),
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
}

async function tokens({ test, job }: Fixture): Promise<bigint[]> {
  return (await readTerms(test.database, job)).map(({ fencingToken }) => fencingToken);
}

async function counter({ test, job }: Fixture): Promise<bigint | undefined> {
  const row = await test.db
    .selectFrom("nightwriter.job")
    .select("fencing_token")
    .where("id", "=", job.id)
    .executeTakeFirst();
  return row?.fencing_token;
}

async function ended({ test }: Fixture): Promise<{ partition: number; fencing_token: bigint; nonce: string }[]> {
  return test.db
    .selectFrom("nightwriter.ended_term")
    .select(["partition", "fencing_token", "nonce"])
    .orderBy("id")
    .execute();
}

const recordRestaurant =
  "insert into sales.restaurant (id, name, time_zone, currency) values ('r1', 'r1', 'UTC', 'EUR')";

/** The statements of builds that know nothing of tokens of their own. */
const olderBuild = {
  register: (job: Job) =>
    sql`insert into nightwriter.partition_term (job_id, partition, fencing_token, holder)
      select ${job.id}::integer, partition, 1, 'nobody' from generate_series(0, 2) as partition
      on conflict (job_id, partition) do nothing`,
  seal: (job: Job, { partition, nonce }: Term) =>
    sql`update nightwriter.partition_term set nonce = gen_random_uuid(), sealed_at = clock_timestamp()
      where job_id = ${job.id} and partition = ${partition} and nonce = ${nonce}`,
  resize: (job: Job, count: number) =>
    sql`with counter as (
        update nightwriter.job set fencing_token = fencing_token + 1, partition_count = ${count} where id = ${job.id} returning fencing_token
      )
      insert into nightwriter.partition_term (job_id, partition, fencing_token, holder)
      select ${job.id}::integer, partition, counter.fencing_token, 'nobody' from counter, generate_series(0, ${count}::integer - 1) as partition
      on conflict (job_id, partition) do update set fencing_token = excluded.fencing_token, nonce = gen_random_uuid()`,
};

describe.each(bothPostgres)("a term on PostgreSQL %s", (server) => {
  it("has a token of its own from the beginning, and after a seal or a resize of any build", async () => {
    await using fixture = await openJob(server);
    const { test, job } = fixture;
    expect(await tokens(fixture)).toEqual([1n, 2n, 3n]);
    const term = await fixture.raise(1);
    expect(term.fencingToken).toBe(4n);
    await sealTerm(test.database, job, term);
    expect(await tokens(fixture)).toEqual([1n, 5n, 3n]);
    const next = await fixture.raise(0);
    await olderBuild.seal(job, next).execute(test.db);
    expect(await tokens(fixture)).toEqual([7n, 5n, 3n]);
    await olderBuild.resize(job, 4).execute(test.db);
    expect(await tokens(fixture)).toEqual([8n, 9n, 10n, 11n]);
    expect(await counter(fixture)).toBe(11n);
  });

  it("that is there costs no token when a process of an older build starts", async () => {
    await using fixture = await openJob(server);
    await olderBuild.register(fixture.job).execute(fixture.test.db);
    expect(await counter(fixture)).toBe(3n);
    expect(await ended(fixture)).toEqual([]);
  });

  it("that was lost comes back with a fresh token, never with 1", async () => {
    await using fixture = await openJob(server);
    await fixture.raise(2);
    await fixture.test.db.deleteFrom("nightwriter.partition_term").where("partition", ">", 0).execute();
    await olderBuild.register(fixture.job).execute(fixture.test.db);
    expect(await tokens(fixture)).toEqual([1n, 5n, 6n]);
  });

  it("that was lost without a trace comes back above the counter", async () => {
    await using fixture = await openJob(server);
    await fixture.raise(2);
    await fixture.test.database.session(async (session) => {
      await session.query("set session_replication_role = replica");
      await session.query("delete from nightwriter.partition_term");
      await session.query("reset session_replication_role");
    });
    await olderBuild.register(fixture.job).execute(fixture.test.db);
    expect(await tokens(fixture)).toEqual([5n, 6n, 7n]);
  });

  it("begins above the greatest one, also where somebody has set the counter back", async () => {
    await using fixture = await openJob(server);
    await fixture.raise(2);
    await fixture.test.db.updateTable("nightwriter.job").set({ fencing_token: 0n }).execute();
    expect(await fixture.raise(0)).toMatchObject({ fencingToken: 5n });
    expect(await counter(fixture)).toBe(5n);
  });

  it("is kept when it ends, by a raise, a seal or its removal, and not when something else of it changes", async () => {
    await using fixture = await openJob(server);
    const { test, job } = fixture;
    const [first, , third] = await readTerms(test.database, job);
    const raised = await fixture.raise(0);
    await sealTerm(test.database, job, raised);
    await test.db.updateTable("nightwriter.partition_term").set({ holder: "another" }).execute();
    await test.db.deleteFrom("nightwriter.partition_term").where("partition", "=", 2).execute();
    expect(await ended(fixture)).toEqual([
      { partition: 0, fencing_token: first?.fencingToken, nonce: first?.nonce },
      { partition: 0, fencing_token: raised.fencingToken, nonce: raised.nonce },
      { partition: 2, fencing_token: third?.fencingToken, nonce: third?.nonce },
    ]);
    await expect(test.db.deleteFrom("nightwriter.ended_term").execute()).rejects.toThrow("append-only");
    await expect(sql`truncate nightwriter.partition_term`.execute(test.db)).rejects.toThrow("truncate refused");
  });

  it.each(["raise", "seal"] as const)(
    "is kept with a snapshot that sees the write which its %s waited for",
    async (how) => {
      await using fixture = await openJob(server);
      const { test, job } = fixture;
      const term = await fixture.raise(1);
      await using write = await heldBack(test.database);
      await write.run(
        "select 1 from nightwriter.partition_term where job_id = $1 and partition = 1 and fencing_token = $2 and nonce = $3 for share",
        [job.id, term.fencingToken, term.nonce],
      );
      await write.run(
        "insert into sales.restaurant (id, name, time_zone, currency) values ('r1', 'r1', 'UTC', 'EUR')",
        [],
      );
      const ending = how === "raise" ? fixture.raise(1) : sealTerm(test.database, job, term);
      await write.waitedFor();
      await write.commit();
      await ending;
      const { rows } = await sql<{ seen: boolean; waited: boolean }>`
      select pg_visible_in_snapshot(written.xmin::text::xid8, ended.ended_snapshot) as seen, written.xmin::text::xid8 < ended.xid as waited
      from nightwriter.ended_term as ended, sales.restaurant as written where ended.fencing_token = ${term.fencingToken}`.execute(
        test.db,
      );
      expect(rows).toEqual([{ seen: true, waited: true }]);
    },
  );

  it("is kept with a newer snapshot than that of the statement which ends it: that one does not see the write", async () => {
    await using fixture = await openJob(server);
    const { test, job } = fixture;
    const term = await fixture.raise(1);
    await using write = await heldBack(test.database);
    await write.run("select from nightwriter.partition_term where job_id = $1 and partition = 1 for share", [job.id]);
    await write.run(recordRestaurant, []);
    const ending = sql<{ own: string }>`update nightwriter.partition_term set nonce = gen_random_uuid()
      where job_id = ${job.id} and partition = 1 returning pg_current_snapshot() as own`.execute(test.db);
    await write.waitedFor();
    await write.commit();
    const own = (await ending).rows[0]?.own;
    const { rows } = await sql`
      select pg_visible_in_snapshot(written.xmin::text::xid8, ${own}::pg_snapshot) as own,
        pg_visible_in_snapshot(written.xmin::text::xid8, ended.ended_snapshot) as kept
      from nightwriter.ended_term as ended, sales.restaurant as written where ended.fencing_token = ${term.fencingToken}`.execute(
      test.db,
    );
    expect(rows).toEqual([{ own: false, kept: true }]);
  });

  it("gets a token of its own while an older schema is migrated, and what it was before is not judged", async () => {
    await using test = await emptiedDatabase(server);
    await migrateToLatest(test.database, { lists: coreBefore("0006") });
    await sql`insert into nightwriter.job (name, partition_count, fencing_token) values ('restaurant-totals', 3, 7)`.execute(
      test.db,
    );
    await sql`insert into nightwriter.partition_term (job_id, partition, fencing_token, holder)
      values (1, 0, 7, 'left'), (1, 1, 5, 'left'), (1, 2, 5, 'right')`.execute(test.db);
    await migrateToLatest(test.database);
    const { rows } = await sql<{
      fencing_token: bigint;
    }>`select fencing_token from nightwriter.partition_term order by partition`.execute(test.db);
    const [first, second, third] = rows.map(({ fencing_token }) => fencing_token);
    expect(first).toBe(7n);
    expect(new Set([second, third])).toEqual(new Set([8n, 9n]));
    const row = await test.db
      .selectFrom("nightwriter.job")
      .select(["fencing_token", "ended_terms_after"])
      .executeTakeFirst();
    expect(row).toEqual({ fencing_token: 9n, ended_terms_after: 7n });
  });

  it("is not ended from a snapshot that may be older than its last write", async () => {
    await using fixture = await openJob(server);
    const { test, job } = fixture;
    const before = await readTerms(test.database, job);
    const ending = test.db
      .transaction()
      .setIsolationLevel("repeatable read")
      .execute(async (transaction) => {
        await transaction.updateTable("nightwriter.partition_term").set({ nonce: crypto.randomUUID() }).execute();
      });
    await expect(ending).rejects.toThrow("a term is ended at isolation level read committed only");
    expect(await readTerms(test.database, job)).toEqual(before);
  });
});

describe.each(bothPostgres)("what runs as the owner on PostgreSQL %s", (server) => {
  it.each(["give_own_token", "keep_ended_term"])("is no trigger of another's table: %s", async (name) => {
    await using fixture = await openJob(server);
    const { test } = fixture;
    await test.database.session(async (session) => {
      // Roles belong to the whole cluster: this one is never committed.
      await session.query("begin");
      const role = `"${test.name}_stranger"`;
      await session.query(`create role ${role}; grant usage on schema nightwriter to ${role}; set local role ${role}`);
      await session.query(
        "create temporary table forged as select 1 as job_id, 9 as partition, 9223372036854775807 as fencing_token",
      );
      const forge = `create trigger forger before insert on forged for each row execute function nightwriter.${name}()`;
      await expect(session.query(forge)).rejects.toMatchObject({ sqlstate: "42501" });
      await session.query("rollback");
    });
  });

  it("runs for a role that may change terms and nothing else", async () => {
    await using fixture = await openJob(server);
    const { test } = fixture;
    await test.database.session(async (session) => {
      await session.query("begin");
      const role = `"${test.name}_raiser"`;
      await session.query(`create role ${role}; grant usage on schema nightwriter to ${role}`);
      await session.query(`grant select, update on nightwriter.partition_term to ${role}; set local role ${role}`);
      await session.query("update nightwriter.partition_term set nonce = gen_random_uuid() where partition = 1");
      const [term] = await session.query(
        "select fencing_token::int as token from nightwriter.partition_term where partition = 1",
      );
      expect(term).toEqual({ token: 4 });
      await session.query("rollback");
    });
  });
});

describe.each(bothPostgres)("a total's row on PostgreSQL %s", (server) => {
  it("is deleted by nobody", async () => {
    await using fixture = await openJob(server);
    const { db } = fixture.test;
    await db.insertInto("nightwriter.key_total").values({ job_id: fixture.job.id, key: "r1" }).execute();
    await expect(db.deleteFrom("nightwriter.key_total").execute()).rejects.toThrow(
      "nightwriter.key_total: delete refused; its rows stay for good",
    );
    await expect(sql`truncate nightwriter.key_total`.execute(db)).rejects.toThrow("truncate refused");
  });
});
