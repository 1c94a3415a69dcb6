/** What a worker makes of keys that fail: all of them, for a reason that they share, and one that is only slow. */
import { registerJob } from "@nightwriter/job";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { runStatus } from "@nightwriter/run";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { type Night, planNight, until } from "./night.ts";

/** From now on no total of these keys can be moved, for what `body` does. */
async function spoil({ db }: Night, { keys, body }: { keys: readonly string[]; body: string }): Promise<void> {
  const list = sql.join(keys.map((key) => sql.lit(key)));
  await sql`create function spoil() returns trigger language plpgsql as
    $$ begin ${sql.raw(body)} return new; end $$`.execute(db);
  await sql`create trigger spoil before update of version on nightwriter.key_total for each row
    when (new.key in (${list})) execute function spoil()`.execute(db);
}

async function parked({ db }: Night): Promise<string[]> {
  const rows = await db.selectFrom("nightwriter.run_item").select("key").where("status", "=", "parked").execute();
  return rows.map(({ key }) => key).toSorted();
}

describe("a worker", { timeout: 120_000 }, () => {
  it("parks a hundred of 400 keys that all fail alike, says so once, and applies the others once it is mended", async () => {
    await using night = await planNight({ store: "redis", restaurants: 400 });
    await spoil(night, { keys: night.keys, body: "raise 'no till answers' using errcode = 'P0002';" });
    const worker = await night.startWorker("careful");
    await night.enqueue();
    const failing = await worker.waitForLog(({ msg }) => msg?.includes("are not parked any more") === true, 60_000);
    expect(failing).toMatchObject({
      sqlstate: "P0002",
      msg: expect.stringContaining(`run ${night.runId}: many items fail`),
    });
    await until(async () => {
      const { count } = await night.db
        .selectFrom("nightwriter.attempt")
        .select((eb) => eb.fn.countAll<bigint>().as("count"))
        .where("outcome", "=", "failing")
        .executeTakeFirstOrThrow();
      expect(count).toBe(300n);
    }, 60_000);
    expect(await parked(night)).toHaveLength(100);
    const job = await registerJob(night.database, restaurantTotals);
    const [status] = await runStatus(night.database, job, { runId: night.runId });
    expect(status).toMatchObject({ parked: 100, due: 300, crowdedCauses: [{ cause: "P0002", parked: 100 }] });
    const lines = worker.log.filter(({ msg }) => msg?.includes(": parked, ") === true);
    expect(lines).toHaveLength(100);
    const { key } = lines[0] as { key?: unknown };
    expect(lines[0]).toMatchObject({
      businessDate: "2026-03-14",
      sqlstate: "P0002",
      error: expect.stringContaining("no till answers"),
      msg: expect.stringContaining(`nightwriter items retry --key ${String(key)} --date 2026-03-14 --reason TEXT`),
    });
    await sql`drop trigger spoil on nightwriter.key_total`.execute(night.db);
    await night.finished(300, 90_000);
    expect(await parked(night)).toHaveLength(100);
  });

  it("parks a key that is too slow while others are applied, and nobody while all are slow", async () => {
    await using night = await planNight({ store: "redis", restaurants: 60 });
    const [slow = "", ...others] = night.keys;
    await spoil(night, { keys: [slow], body: "perform pg_sleep(60);" });
    const worker = await night.startWorker("patient", { STATEMENT_TIMEOUT_MS: "1000", BATCH_SIZE: "4" });
    const timeouts = (): number =>
      worker.log.filter(
        ({ msg, err }) => msg?.startsWith("batch met weather") === true && JSON.stringify(err).includes("57014"),
      ).length;
    await night.enqueue({ keys: [slow] });
    // Alone in the world it stays due: the whole database may be slow.
    await until(async () => expect(timeouts()).toBeGreaterThan(5), 40_000);
    expect(await parked(night)).toEqual([]);
    for (let sent = 0; sent < others.length && (await parked(night)).length === 0; sent += 1) {
      const before = timeouts();
      await night.enqueue({ keys: others.slice(sent, sent + 1) });
      await until(async () => {
        expect(await night.applied()).toBe(sent + 1);
        expect(timeouts() > before || (await parked(night)).length > 0).toBe(true);
      }, 60_000);
    }
    expect(await parked(night)).toEqual([slow]);
    const line = worker.log.find(({ msg }) => msg?.includes(`key ${slow} 2026-03-14: parked, too slow`) === true);
    expect(line).toMatchObject({ sqlstate: "57014" });
  });
});
