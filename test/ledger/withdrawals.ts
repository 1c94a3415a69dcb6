/**
 * What is taken back in the middle of a storm, and whether it stays taken back: items are parked, runs cancelled, keys paused for
 * a while, each while somebody is writing it. `broken` asks the tables afterwards, and no line of the product's.
 */

import type { Item } from "@nightwriter/ledger";
import { readTerms } from "@nightwriter/partition";
import { sql } from "kysely";
import { type Night, park } from "./night.ts";
import { weatherproof } from "./weatherproof.ts";

const gateSpace = 0x6e777267;

export class Withdrawals {
  readonly #night: Night;
  readonly #parked: Item[] = [];
  /** Entries that the run had when its cancellation returned. */
  readonly #cancelled = new Map<bigint, bigint>();
  readonly #broken: string[] = [];

  constructor(night: Night) {
    this.#night = night;
  }

  get count(): number {
    return this.#parked.length + this.#cancelled.size;
  }

  async park(item: Item): Promise<void> {
    const [term] = await readTerms(this.#night.test.database, this.#night.job);
    const answers = await weatherproof(async () => park(this.#night, [item], term));
    if (answers?.[0]?.outcome === "parked") this.#parked.push(item);
  }

  /** Parks the item while a slow write of its run is under way, so that the writer that gets it from `deliver` waits behind the park. */
  async parkBehindSlowWrite(item: Item, deliver: () => () => boolean): Promise<void> {
    if (await this.#hasEntry(item)) return;
    await this.#night.test.database.session(async (slow) => {
      await slow.query("begin");
      await slow.query("select pg_advisory_xact_lock_shared($1, ($2::bigint % 2147483647)::integer)", [
        gateSpace,
        item.runId,
      ]);
      let isParked = false;
      const parking = this.park(item).finally(() => (isParked = true));
      await this.#waitForWaiters(1, () => isParked);
      const isAnswered = deliver();
      await this.#waitForWaiters(2, () => isParked || isAnswered());
      await slow.query("commit");
      await parking;
    });
  }

  /** Until so many wait at some gate, or nobody is to come any more: who was to come may have been fenced, or have ended. */
  async #waitForWaiters(count: number, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const { rows } = await sql<{ waiting: number }>`select count(*)::int as waiting from pg_locks
        where locktype = 'advisory' and classid = ${gateSpace}::oid and not granted
          and database = (select oid from pg_database where datname = current_database())`.execute(this.#night.test.db);
      if ((rows[0]?.waiting ?? 0) >= count) return;
    }
  }

  /** As a verb does: behind the gate, and the revision is raised. */
  async cancel({ runId }: Item): Promise<void> {
    if (this.#cancelled.has(runId)) return;
    const { db } = this.#night.test;
    await db.transaction().execute(async (transaction) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(gateSpace)}, (${runId}::bigint % 2147483647)::integer)`.execute(
        transaction,
      );
      await sql`update nightwriter.run set cancelled_at = clock_timestamp(), revision = revision + 1 where id = ${runId}`.execute(
        transaction,
      );
    });
    this.#cancelled.set(runId, await this.#entriesOf(runId));
  }

  /** Pauses the key until `over` resolves. */
  async pause({ key }: Item, over: () => Promise<void>): Promise<void> {
    await this.#setPaused(key, true);
    const before = await this.#versionOf(key);
    await over();
    const after = await this.#versionOf(key);
    if (after !== before) this.#broken.push(`key ${key}: moved from version ${before} to ${after} while it was paused`);
    await this.#setPaused(key, false);
  }

  /** A line for each thing that was applied after it had been taken back. */
  async broken(): Promise<readonly string[]> {
    for (const item of this.#parked) {
      if (await this.#hasEntry(item))
        this.#broken.push(`item of key ${item.key} in run ${item.runId}: was parked and has an entry`);
    }
    for (const [runId, before] of this.#cancelled) {
      const after = await this.#entriesOf(runId);
      if (after !== before)
        this.#broken.push(`run ${runId}: had ${before} entries when it was cancelled, has ${after}`);
    }
    return this.#broken;
  }

  async #hasEntry({ runId, key, businessDate }: Item): Promise<boolean> {
    const { rows } = await sql`select 1 from nightwriter.ledger_entry
      where run_id = ${runId} and key = ${key} and business_date = ${businessDate}::date`.execute(this.#night.test.db);
    return rows.length > 0;
  }

  async #setPaused(key: string, paused: boolean): Promise<void> {
    const at = paused ? sql`clock_timestamp()` : sql`null`;
    await sql`update nightwriter.key_total set paused_at = ${at} where key = ${key}`.execute(this.#night.test.db);
  }

  async #versionOf(key: string): Promise<bigint | undefined> {
    const { rows } = await sql<{
      version: bigint;
    }>`select version from nightwriter.key_total where key = ${key}`.execute(this.#night.test.db);
    return rows[0]?.version;
  }

  async #entriesOf(runId: bigint): Promise<bigint> {
    const { rows } = await sql<{
      count: bigint;
    }>`select count(*) from nightwriter.ledger_entry where run_id = ${runId}`.execute(this.#night.test.db);
    return rows[0]?.count ?? 0n;
  }
}
