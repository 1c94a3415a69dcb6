import { finishRuns } from "@nightwriter/run";
import { bothPostgres, heldBack, recordSales } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { imbalances, testJob } from "./test-job.ts";

const [monday, tuesday, wednesday, thursday] = ["2026-03-09", "2026-03-10", "2026-03-11", "2026-03-12"] as const;
const [one, two] = ["r0001", "r0002"] as const;

const sale = (restaurant: string, businessDate: string, amountMinor: number) => ({
  restaurant,
  businessDate,
  amountMinor,
});

describe.each(bothPostgres)("what the next night plans on PostgreSQL %s", (server) => {
  it("is a sale whose transaction was open when the night before was planned, and committed after it", async () => {
    await using night = await testJob({ server });
    await recordSales(night.db, [sale(one, monday, 1_000)]);
    await using late = await heldBack(night.database);
    await late.recordSale(sale(one, monday, 333));
    await recordSales(night.db, [sale(one, monday, 7)]);
    await night.plan(monday);
    await night.applyDue();
    expect(await total(night, one)).toBe(1_007n);
    await late.commit();

    const { run } = await night.plan(tuesday);
    expect(await night.itemsOf(run.id)).toEqual([`${one} ${monday}`, `${one} ${tuesday}`, `${two} ${tuesday}`]);
    await night.applyDue();
    expect(await total(night, one)).toBe(1_340n);
  });

  it("is a sale recorded between the plan and the write of the night before, only where the write did not see it", async () => {
    await using night = await testJob({ server });
    await night.plan(monday);
    await recordSales(night.db, [sale(one, monday, 10)]);
    await night.applyDue([one]);
    await night.applyDue([two]);
    await recordSales(night.db, [sale(two, monday, 20)]);
    const { run } = await night.plan(tuesday);
    expect(await night.itemsOf(run.id)).toEqual([`${one} ${tuesday}`, `${two} ${monday}`, `${two} ${tuesday}`]);
  });

  it("is nothing of a pair whose refund came as late as its sale", async () => {
    await using night = await testJob({ server });
    await night.plan(monday);
    await night.applyDue();
    await recordSales(night.db, [sale(one, monday, 10), sale(one, monday, -10)]);
    const { run } = await night.plan(tuesday);
    expect(await night.itemsOf(run.id)).toEqual([`${one} ${tuesday}`, `${two} ${tuesday}`]);
  });

  it("is a late sale for an item that the same night's second plan could not add", async () => {
    await using night = await testJob({ server });
    await night.plan(monday);
    await night.applyDue();
    await recordSales(night.db, [sale(one, monday, 10)]);
    expect(await night.plan(monday)).toMatchObject({ planned: 0 });
    const { run } = await night.plan(tuesday);
    expect(await night.itemsOf(run.id)).toContain(`${one} ${monday}`);
  });

  it("is every date with sales in a gap of nights that never ran", async () => {
    await using night = await testJob({ server });
    await night.plan(monday);
    await night.applyDue();
    await recordSales(night.db, [sale(one, tuesday, 10), sale(two, wednesday, 20)]);
    const { run } = await night.plan(thursday);
    expect(await night.itemsOf(run.id)).toEqual([
      `${one} ${tuesday}`,
      `${one} ${thursday}`,
      `${two} ${wednesday}`,
      `${two} ${thursday}`,
    ]);
    await night.applyDue();
    expect(await imbalances(night.db)).toEqual([]);
  });

  it("is what was recorded for a later date before the night before was planned", async () => {
    await using night = await testJob({ server });
    await recordSales(night.db, [sale(one, tuesday, 10)]);
    await night.plan(monday);
    await night.plan(wednesday);
    await night.applyDue();
    expect(await imbalances(night.db)).toEqual([]);
  });

  it("is not lost to a night that was caught up on later, whose own snapshot is younger", async () => {
    await using night = await testJob({ server });
    await night.plan(monday);
    await night.plan(wednesday);
    await night.applyDue();
    await recordSales(night.db, [sale(one, wednesday, 30), sale(two, monday, 40)]);
    // Looks at dates up to its own only, and must not stand for Wednesday, although it is the youngest plan.
    const { run: tuesdays } = await night.plan(tuesday);
    expect(await night.itemsOf(tuesdays.id)).toEqual([`${one} ${tuesday}`, `${two} ${monday}`, `${two} ${tuesday}`]);
    await night.applyDue();
    const { run } = await night.plan(thursday);
    expect(await night.itemsOf(run.id)).toEqual([`${one} ${wednesday}`, `${one} ${thursday}`, `${two} ${thursday}`]);
    await night.applyDue();
    expect(await imbalances(night.db)).toEqual([]);
  });

  it("is everything with a difference, of whatever date, in the first night of all", async () => {
    await using night = await testJob({ server });
    await recordSales(night.db, [sale(one, "2025-12-24", 10), sale(two, monday, 20), sale(two, wednesday, 99)]);
    const { run } = await night.plan(tuesday);
    expect(await night.itemsOf(run.id)).toEqual([
      `${one} 2025-12-24`,
      `${one} ${tuesday}`,
      `${two} ${monday}`,
      `${two} ${tuesday}`,
    ]);
  });

  it("is what was written in a later epoch, whatever its transaction ids", async () => {
    await using night = await testJob({ server });
    await night.plan(monday);
    await night.applyDue();
    // As after a dump and a restore: the base's ids are of another cluster, and above all that this one hands out.
    await sql`update nightwriter.epoch set system_identifier = 1`.execute(night.db);
    await sql`insert into nightwriter.epoch (epoch, system_identifier)
      select 2, system_identifier from pg_control_system()`.execute(night.db);
    await sql`update nightwriter.run set plan_snapshot = '99999999:99999999:', plan_epoch = 1`.execute(night.db);
    await sql`insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor, epoch)
      select ${one}, ${monday}, 'restored', 1, 10, max(epoch) from nightwriter.epoch`.execute(night.db);
    const { run } = await night.plan(tuesday);
    expect(await night.itemsOf(run.id)).toContain(`${one} ${monday}`);
  });
});

describe.each(bothPostgres)("a write in flight while the next night is planned, on PostgreSQL %s", (server) => {
  /**
   * The write takes its snapshot, then waits; a sale is recorded; the next night sees the sale and the item that is due and
   * leaves the pair to it; the write goes on and sums without the sale.
   */
  async function race(night: Awaited<ReturnType<typeof testJob>>): Promise<void> {
    const { run } = await night.plan(monday);
    await recordSales(night.db, [sale(one, monday, 100)]);
    await night.applyDue([two]);
    await using lock = await heldBack(night.database);
    await lock.run("select 1 from nightwriter.run where id = $1 for update", [run.id]);
    const write = night.applyDue([one]);
    await lock.waitedFor();
    await recordSales(night.db, [sale(one, monday, 23)]);
    const next = await night.plan(tuesday);
    expect(await night.itemsOf(next.run.id)).toEqual([`${one} ${tuesday}`, `${two} ${tuesday}`]);
    await lock.commit();
    await write;
    expect(await total(night, one)).toBe(100n);
    await night.applyDue();
    await finishRuns(night.database, night.job);
  }

  it("does not lose what the write did not see: the night after looks at the pairs that were left to other runs", async () => {
    await using night = await testJob({ server });
    await race(night);
    const { run } = await night.plan(wednesday);
    expect(await night.itemsOf(run.id)).toEqual([`${one} ${monday}`, `${one} ${wednesday}`, `${two} ${wednesday}`]);
    await night.applyDue();
    expect(await imbalances(night.db)).toEqual([]);
  });

  it("loses it when plans forget which runs they overlapped: the race is the one that was meant", async () => {
    await using night = await testJob({ server });
    await race(night);
    await night.db.updateTable("nightwriter.run").set({ plan_overlaps: [] }).execute();
    await night.plan(wednesday);
    await night.applyDue();
    expect(await imbalances(night.db)).toEqual([`${one} ${monday}: 123 recorded, 100 entered`]);
  });
});

describe("a job whose source says nothing of when it was written", () => {
  it("has the last days' pairs compared again, and no earlier ones", async () => {
    const source = {
      kind: "lookback",
      days: 2,
      rows: () => sql<never>`(select restaurant_id as key, business_date, amount_minor from sales.sale)`,
    } as const;
    await using night = await testJob({ definition: { source } });
    await night.plan(wednesday);
    await night.applyDue();
    await recordSales(night.db, [sale(one, tuesday, 1), sale(one, wednesday, 2), sale(two, wednesday, 3)]);
    await recordSales(night.db, [sale(two, wednesday, -3)]);
    const { run } = await night.plan(thursday);
    expect(await night.itemsOf(run.id)).toEqual([`${one} ${wednesday}`, `${one} ${thursday}`, `${two} ${thursday}`]);
  });
});

async function total({ db }: Awaited<ReturnType<typeof testJob>>, key: string): Promise<bigint> {
  const row = await db
    .selectFrom("nightwriter.key_total")
    .select("total_minor")
    .where("key", "=", key)
    .executeTakeFirstOrThrow();
  return row.total_minor;
}
