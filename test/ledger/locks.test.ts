/** What a write waits for, what waits for it, and in which order it locks. */

import { invariant } from "@nightwriter/core";
import { bothPostgres } from "@nightwriter/testkit";
import { describe, expect, test } from "vitest";
import { apply, books, lockWaiters, type Night, openNight, park, plan, write, writeText } from "./night.ts";

const unordered = [/ order by "item"\."key"/, ""] as const;

/** Two batches with their keys in opposite orders; both are under way and meet at the key in the middle. */
async function meet(night: Night, text: string): Promise<string[]> {
  const { database } = night.test;
  const forth = await plan(night, { request: "forth" });
  const back = (await plan(night, { request: "back" })).toReversed();
  const results = await database.session(async (holder) => {
    await holder.query("begin");
    await holder.query("select 1 from nightwriter.key_total where key = 'r0005' for update");
    const writing = [forth, back].map(async (items) =>
      database.session(async (session) => write(night, { session, items, text })),
    );
    await lockWaiters(night, 2);
    await holder.query("commit");
    return Promise.allSettled(writing);
  });
  return results.map((result) => (result.status === "fulfilled" ? "done" : String(result.reason.sqlstate)));
}

/** With some nights behind it the server plans the write in another way. */
const cases = bothPostgres.flatMap((server) => [0, 40].map((history) => ({ server, history })));

describe.each(cases)(
  "locks of the guarded write on PostgreSQL $server after $history nights",
  ({ server, history }) => {
    test("two batches over the same keys in opposite orders do not deadlock", async () => {
      await using night = await openNight(server, 9, history);
      expect(await meet(night, writeText(night))).toEqual(["done", "done"]);
    });

    test("without the key order the same two batches deadlock", async () => {
      await using night = await openNight(server, 9, history);
      expect((await meet(night, writeText(night, unordered))).toSorted()).toEqual(["40P01", "done"]);
    });

    test("raising the term waits for a write in flight, then shuts the next one out", async () => {
      await using night = await openNight(server, 1, history);
      const first = await plan(night, { request: "first" });
      const second = await plan(night, { request: "second" });
      const { database } = night.test;
      await database.session(async (writer) => {
        await writer.query("begin");
        expect(await write(night, { session: writer, items: first })).toHaveLength(1);
        const raising = database.session(async (rival) =>
          rival.query("update nightwriter.partition_term set fencing_token = 34, nonce = gen_random_uuid()"),
        );
        await lockWaiters(night);
        await writer.query("commit");
        await raising;
      });
      expect(await apply(night, second)).toEqual([{ outcome: "fenced", storedToken: 34n }]);
      expect(await books(night)).toMatchObject({ total: 1_120n, version: 2n });
    });

    test("a write that waited for a cancellation, a park or a pause to commit applies nothing", async () => {
      const verbs = {
        cancelled: "update nightwriter.run set cancelled_at = now(), revision = revision + 1",
        parked: `with bumped as (update nightwriter.run set revision = revision + 1)
        update nightwriter.run_item set status = 'parked' where business_date = '2026-03-01'`,
        paused: "update nightwriter.key_total set paused_at = now()",
      };
      for (const [reason, verb] of Object.entries(verbs)) {
        await using night = await openNight(server, 1, history);
        const items = await plan(night, { request: "mine" });
        const { database } = night.test;
        const outcomes = await database.session(async (operator) => {
          await operator.query("begin");
          await operator.query(verb);
          const writing = apply(night, items);
          await lockWaiters(night);
          await operator.query("commit");
          return writing;
        });
        expect(outcomes).toEqual([{ outcome: "withdrawn", reason }]);
        expect(await books(night)).toMatchObject({ total: 1_000n, version: 1n });
      }
    });

    test("without the comparison of revisions a write applies what was parked while it waited", async () => {
      await using night = await openNight(server, 1, history);
      const items = await plan(night, { request: "mine" });
      const { database } = night.test;
      const unrevised = [/ and "seen"\."revision" = "live"\."revision"/, ""] as const;
      const rows = await database.session(async (operator) => {
        await operator.query("begin");
        await operator.query("update nightwriter.run set revision = revision + 1");
        await operator.query("update nightwriter.run_item set status = 'parked'");
        const writing = database.session(async (session) =>
          write(night, { session, items, text: writeText(night, unrevised) }),
        );
        await lockWaiters(night);
        await operator.query("commit");
        return writing;
      });
      expect(rows).toHaveLength(1);
    });

    test("a park waits for the write in flight only, and later writes wait behind it", async () => {
      await using night = await openNight(server, 2, history);
      const [mine, other] = await plan(night, { request: "mine" });
      invariant(mine !== undefined && other !== undefined, "two items were planned");
      const { database } = night.test;
      const outcomes = await database.session(async (writer) => {
        await writer.query("begin");
        await write(night, { session: writer, items: [mine] });
        const parking = park(night, [other]);
        await lockWaiters(night);
        const overtaking = apply(night, [other]);
        await lockWaiters(night, 2);
        await writer.query("commit");
        await parking;
        return overtaking;
      });
      expect(outcomes).toEqual([{ outcome: "withdrawn", reason: "parked" }]);
    });

    test("parking leaves an item alone that was applied while it waited", async () => {
      await using night = await openNight(server, 1, history);
      const [item] = await plan(night, { request: "mine" });
      invariant(item !== undefined, "one item was planned");
      const { database, db } = night.test;
      await database.session(async (writer) => {
        await writer.query("begin");
        await write(night, { session: writer, items: [item] });
        const parking = park(night, [item]);
        await lockWaiters(night);
        await writer.query("commit");
        await parking;
      });
      const status = await db
        .selectFrom("nightwriter.run_item")
        .select("status")
        .where("run_id", "=", item.runId)
        .execute();
      expect(status).toEqual([{ status: "due" }]);
    });
  },
);
