/**
 * Whoever waits at a gate holds nothing. How a write is planned depends on how many runs there were, on the version of the server
 * and on the pool, and with that the order of its locks might: so each of them is tried.
 */
import { invariant } from "@nightwriter/core";
import { openDatabase, type Session } from "@nightwriter/database";
import type { Item } from "@nightwriter/ledger";
import { bothPostgres } from "@nightwriter/testkit";
import { expect, test } from "vitest";
import { lockWaiters, type Night, openNight, park, plan, write, writeText } from "./night.ts";

const planModes = ["force_custom_plan", "force_generic_plan"] as const;
type PlanMode = (typeof planModes)[number];
const histories = [0, 3, 40, 400];
const keyCount = 10;

/** The shipped write as it was before every locking step asked for the gate: only the items did. */
const ungated = [
  [/ and \(select "count" from "gate"\) >= 0 order by "id"/, ' order by "id"'],
  [/("nonce" = \$\d+::uuid) and \(select "count" from "gate"\) >= 0/, "$1"],
] as const;

/** Runs `work` on a session whose plans are made in this way, of a pool that writes and of an ordinary one. */
async function inEachPool(
  { test: { url } }: Night,
  mode: PlanMode,
  work: (writer: Session) => Promise<void>,
): Promise<void> {
  for (const indexLookups of [true, false]) {
    await using pool = openDatabase({ url, applicationName: "writer", max: 1, indexLookups, lockTimeoutMs: 20_000 });
    await pool.session(async (writer) => {
      await writer.query(`set plan_cache_mode = ${mode}`);
      await work(writer);
    });
  }
}

/** What `park_items` takes first: each write of the run waits until this session's transaction ends. */
const closeGate = async (session: Session, { runId }: Item): Promise<unknown> =>
  session.query("select pg_advisory_xact_lock(1853321831, $1::integer)", [runId]);

/** Row locks need a transaction id, which is locked for as long as its transaction lasts. */
const heldByWriter = `select distinct locktype from pg_locks join pg_stat_activity using (pid)
  where application_name = 'writer' and datname = current_database() and locktype in ('transactionid', 'tuple')`;

/** What a write that waits at the closed gate of its run holds meanwhile, and what becomes of it then. */
async function waitAtGate(night: Night, writer: Session, text: string): Promise<{ held: unknown[]; rows: number }> {
  const items = await plan(night, { request: crypto.randomUUID() });
  const [item] = items;
  invariant(item !== undefined, "the night has a key");
  return night.test.database.session(async (closer) => {
    await closer.query("begin");
    await closeGate(closer, item);
    const writing = write(night, { session: writer, items, text });
    await lockWaiters(night);
    const held = await closer.query(heldByWriter);
    await closer.query("commit");
    return { held, rows: (await writing).length };
  });
}

/** A park between two writes: it waits for the first, and the second waits for it. Whose locks cross, deadlock. */
async function parkBetween(night: Night, writer: Session): Promise<{ answers: unknown; rows: number }> {
  const [mine, other, third] = await plan(night, { request: crypto.randomUUID() });
  invariant(mine !== undefined && other !== undefined && third !== undefined, "three items were planned");
  return night.test.database.session(async (first) => {
    await first.query("begin");
    await write(night, { session: first, items: [mine] });
    const parking = park(night, [other]);
    await lockWaiters(night);
    const writing = write(night, { session: writer, items: [other, third] });
    await lockWaiters(night, 2);
    await first.query("commit");
    return { answers: await parking, rows: (await writing).length };
  });
}

const cases = bothPostgres.flatMap((server) => histories.map((history) => ({ server, history })));

test.each(cases)(
  "a write that waits at the gate holds no row lock, and deadlocks with no park, on PostgreSQL $server after $history nights",
  async ({ server, history }) => {
    await using night = await openNight(server, keyCount, history);
    for (const mode of planModes) {
      await inEachPool(night, mode, async (writer) => {
        expect(await waitAtGate(night, writer, writeText(night)), mode).toEqual({ held: [], rows: keyCount });
        expect(await parkBetween(night, writer), mode).toEqual({ answers: [{ outcome: "parked" }], rows: 0 });
      });
    }
  },
);

test.each(bothPostgres)("trap on PostgreSQL %s: a write of which only the items ask for the gate", async (server) => {
  await using night = await openNight(server, keyCount, 40);
  await inEachPool(night, "force_generic_plan", async (writer) => {
    const { held } = await waitAtGate(night, writer, writeText(night, ...ungated));
    expect(held).toEqual([{ locktype: "transactionid" }]);
  });
});
