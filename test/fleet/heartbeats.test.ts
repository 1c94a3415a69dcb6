import { forgetSilentWorkers, type Heartbeat, liveWorkers, markLeft, recordHeartbeat } from "@nightwriter/fleet";
import { bothPostgres, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";

const left: Heartbeat = { name: "left", host: "one", pid: 11, upMs: 60_000, refusedWrites: 0, lastEntriesAgoMs: {} };
const right: Heartbeat = { ...left, name: "right", host: "two", pid: 22 };

describe.each(bothPostgres)("heartbeats on PostgreSQL %s", (server) => {
  it("make a worker alive, until it leaves or is silent for too long, whatever its own clock says", async () => {
    await using test = await testDatabase({ server });
    const live = async (staleMs: number): Promise<string[]> =>
      (await liveWorkers(test.database, staleMs)).map(({ name }) => name);
    for (const beat of [right, left]) await recordHeartbeat(test.database, beat);
    expect(await live(60_000)).toEqual(["left", "right"]);

    await markLeft(test.database, left);
    expect(await live(60_000)).toEqual(["right"]);
    await sql`update nightwriter.worker set seen_at = seen_at - interval '10 seconds'`.execute(test.db);
    expect(await live(10_000)).toEqual([]);
    expect(await live(60_000)).toEqual(["right"]);

    await recordHeartbeat(test.database, left);
    expect(await live(10_000)).toEqual(["left"]);
  });

  it("write down what the worker says of itself, and keep the last entries that it does not mention", async () => {
    await using test = await testDatabase({ server });
    await recordHeartbeat(test.database, { ...left, lastEntriesAgoMs: { "totals/1": 5_000, "totals/2": 5_000.5 } });
    await recordHeartbeat(test.database, { ...left, refusedWrites: 3, lastEntriesAgoMs: { "totals/2": 0 } });
    const row = await test.db
      .selectFrom("nightwriter.worker")
      .selectAll()
      .select(sql<number>`extract(epoch from seen_at - started_at)::float8`.as("up_seconds"))
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({ name: "left", host: "one", pid: 11, left_at: null, refused_writes: 3n });
    expect(row.up_seconds).toBeCloseTo(60, 3);
    const [first, second] = ["totals/1", "totals/2"].map((key) => Temporal.Instant.from(row.last_entries[key] ?? ""));
    const betweenMs = first?.until(second ?? first).total("milliseconds");
    expect(betweenMs).toBeGreaterThanOrEqual(5_000);
    expect(second?.epochMilliseconds).toBe(row.seen_at.getTime());
  });

  it("of two processes with one name are one worker's, who has not left as long as either beats", async () => {
    await using test = await testDatabase({ server });
    await recordHeartbeat(test.database, left);
    await recordHeartbeat(test.database, { ...left, pid: 12 });
    await markLeft(test.database, left);
    expect(await liveWorkers(test.database, 60_000)).toEqual([{ name: "left", host: "one", pid: 12 }]);
  });

  it("are forgotten a week after the last", async () => {
    await using test = await testDatabase({ server });
    for (const beat of [right, left]) await recordHeartbeat(test.database, beat);
    await sql`update nightwriter.worker set seen_at = now() - interval '8 days' where name = 'left'`.execute(test.db);
    await forgetSilentWorkers(test.database);
    expect(await test.db.selectFrom("nightwriter.worker").select("name").execute()).toEqual([{ name: "right" }]);
  });
});
