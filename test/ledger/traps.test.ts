/**
 * The traps that a write like this falls into, each sprung on purpose: a wrong variant, made from the shipped statement,
 * shows the damage; the shipped one does not.
 */
import type { Database, Session } from "@nightwriter/database";
import type { Item } from "@nightwriter/ledger";
import { bothPostgres, recordSales } from "@nightwriter/testkit";
import { describe, expect, test } from "vitest";
import {
  applied,
  apply,
  books,
  date,
  lockWaiters,
  type Night,
  openNight,
  plan,
  withoutVersion,
  write,
  writeText,
} from "./night.ts";

/** No row lock ahead of the update. */
const withoutLock = [/ for no key update/, ""] as const;
const withoutTokens = [/ and "it"\."fencing_token" <= "term"\."fencing_token"/, ""] as const;
/** Entries from what was computed, whether or not the total moved; a later version each, so that nothing else stops it. */
const entryFirst = [
  /select ("job_id", "run_id".*) from "upd" returning/,
  `select 1, run_id, key, business_date, delta_minor, source_count, 1, locked_version + row_number() over (order by run_id),
     0, pg_current_snapshot(), 1, 'test', 1 from "delta" on conflict do nothing returning`,
] as const;

/** An entry for the item that no write has made: a duplicate in the making, until it is committed. */
async function enterRival({ job }: Night, rival: Session, item: Item | undefined): Promise<void> {
  await rival.query(
    `insert into nightwriter.ledger_entry (job_id, run_id, key, business_date, delta_minor, source_count, fencing_token,
       version_after, total_after, source_snapshot, worker)
     values ($1, $2, $3, $4, 0, 0, 1, 99, 0, pg_current_snapshot(), 'rival')`,
    [job.id, item?.runId, item?.key, date],
  );
}

/** A rival run writes the key and commits while `text` waits for its row; returns what `text` then wrote. */
async function overtaken(night: Night, text: string): Promise<{ rows: number; retried: string }> {
  const { database } = night.test;
  const rivals = await plan(night, { request: "rival" });
  const items = await plan(night, { request: "mine" });
  const rows = await database.session(async (rival) => {
    await rival.query("begin");
    await write(night, { session: rival, items: rivals });
    const waiting = database.session(async (session) => write(night, { session, items, text }));
    await lockWaiters(night);
    await rival.query("commit");
    return (await waiting).length;
  });
  const [outcome] = await apply(night, items);
  return { rows, retried: outcome?.outcome ?? "" };
}

describe.each(bothPostgres)("the guarded write on PostgreSQL %s", (server) => {
  test("writes nothing when it was overtaken, and the right difference when tried again", async () => {
    await using night = await openNight(server);
    expect(await overtaken(night, writeText(night))).toEqual({ rows: 0, retried: "applied" });
    expect(await books(night)).toEqual({ total: 1_120n, version: 3n, deltas: [1_000n, 120n, 0n] });
  });

  test("trap: locking and summing without the version the sums belong to adds the day twice", async () => {
    await using night = await openNight(server);
    expect(await overtaken(night, writeText(night, withoutVersion))).toEqual({ rows: 1, retried: "duplicate" });
    expect(await books(night)).toMatchObject({ total: 1_240n, deltas: [1_000n, 120n, 120n] });
  });

  test("trap: a sub-select in the update without a version check is not evaluated again after waiting", async () => {
    await using night = await openNight(server);
    const text = writeText(night, withoutLock, withoutVersion);
    expect(await overtaken(night, text)).toEqual({ rows: 1, retried: "duplicate" });
    expect(await books(night)).toMatchObject({ total: 1_240n });
  });

  test("trap: an entry that does not depend on the total loses the delta for ever", async () => {
    await using night = await openNight(server);
    const items = await plan(night, { request: "mine" });
    await night.test.database.session(async (rival) => {
      await rival.query("begin");
      await rival.query("update nightwriter.key_total set version = version + 1, total_minor = total_minor + 5");
      const waiting = night.test.database.session(async (session) =>
        write(night, { session, items, text: writeText(night, entryFirst) }),
      );
      await lockWaiters(night);
      await rival.query("commit");
      await waiting;
    });
    expect(await apply(night, items)).toEqual([{ outcome: "duplicate" }]);
    expect(await books(night)).toEqual({ total: 1_005n, version: 2n, deltas: [1_000n, 120n] });
  });

  test("trap: two source rows for one target drop one of them, and the entry that does not depend on it stays", async () => {
    await using night = await openNight(server);
    await recordSales(night.test.db, [{ restaurant: "r0001", businessDate: "2026-03-02", amountMinor: 7 }]);
    const items = [
      ...(await plan(night, { request: "first" })),
      ...(await plan(night, { request: "second", businessDate: "2026-03-02" })),
    ];
    await night.test.database.session(async (session) => {
      await session.query("begin");
      expect(await write(night, { session, items, text: writeText(night, entryFirst) })).toHaveLength(2);
      const wrong = await session.query<{ total_minor: bigint }>("select total_minor from nightwriter.key_total");
      expect([1_120n, 1_007n]).toContain(wrong[0]?.total_minor);
      await session.query("rollback");
      expect(await write(night, { session, items })).toHaveLength(1);
    });
    for (const item of items) await apply(night, [item]);
    expect(await books(night)).toMatchObject({ total: 1_127n, version: 3n });
  });

  test("trap: no rows do not mean duplicate, and the statement that waited cannot see the duplicate either", async () => {
    await using night = await openNight(server);
    const items = await plan(night, { request: "mine" });
    const asksItself = [
      /select \* from "ent"/,
      `select exists (select from nightwriter.ledger_entry where run_id = ${items[0]?.runId}) as duplicate from "term"
       where not exists (select from "ent")`,
    ] as const;
    const { database } = night.test;
    const rows = await database.session(async (rival) => {
      await rival.query("begin");
      await write(night, { session: rival, items });
      const waiting = database.session(async (session) =>
        write(night, { session, items, text: writeText(night, asksItself) }),
      );
      await lockWaiters(night);
      await rival.query("commit");
      return waiting;
    });
    expect(rows).toEqual([{ duplicate: false }]);
    expect(await apply(night, items)).toEqual([{ outcome: "duplicate" }]);
    expect(await books(night)).toMatchObject({ total: 1_120n, version: 2n });
  });

  test("a duplicate that wrote first breaks the whole statement instead of being swallowed", async () => {
    await using night = await openNight(server, 2);
    const items = await plan(night, { request: "mine" });
    const { database, db } = night.test;
    const outcomes = await database.session(async (rival) => {
      await rival.query("begin");
      await enterRival(night, rival, items[1]);
      const waiting = apply(night, items);
      await lockWaiters(night);
      await rival.query("commit");
      return waiting;
    });
    expect(applied(outcomes[0]).totalAfter).toBe(1_120n);
    expect(outcomes[1]).toEqual({ outcome: "duplicate" });
    const rows = await db.selectFrom("nightwriter.key_total").select(["key", "total_minor"]).orderBy("key").execute();
    expect(rows).toEqual([
      { key: "r0001", total_minor: 1_120n },
      { key: "r0002", total_minor: 1_000n },
    ]);
  });

  test("an item is not parked because duplicates of two others broke its statement twice", async () => {
    await using night = await openNight(server, 3);
    const items = await plan(night, { request: "mine" });
    const { database } = night.test;
    const text = writeText(night);
    let broken = 0;
    const beaten: Database = {
      ...database,
      run: async (query) => {
        const rival = items[broken];
        if (query.sql !== text || rival === undefined || broken === 2) return database.run(query);
        broken += 1;
        return database.session(async (session) => {
          await session.query("begin");
          await enterRival(night, session, rival);
          const waiting = database.run(query);
          await Promise.race([lockWaiters(night), waiting]);
          await session.query("commit");
          return waiting;
        });
      },
    };
    const outcomes = await apply({ ...night, test: { ...night.test, database: beaten } }, items);
    expect(broken).toBe(2);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["duplicate", "duplicate", "applied"]);
  });

  test("without the token check a holder of an old term writes over a key that a newer term has written", async () => {
    await using night = await openNight(server);
    const items = await plan(night, { request: "mine" });
    await night.test.db.updateTable("nightwriter.key_total").set({ fencing_token: 34n }).execute();
    await night.test.database.session(async (session) => {
      expect(await write(night, { session, items })).toEqual([]);
      expect(await write(night, { session, items, text: writeText(night, withoutTokens) })).toHaveLength(1);
    });
  });
});
