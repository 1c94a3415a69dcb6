/** What is a bug, and what only looks like one: nothing is that a verb can cause, also one that was taken back at once. */
import type { ItemOutcome } from "@nightwriter/ledger";
import { bothPostgres } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { apply, date, type Night, openNight, plan } from "./night.ts";

/** Each comes and goes within the write's own transaction, so that both looks see the same. A term never comes back. */
const verbs = {
  "a pause": `update nightwriter.key_total set paused_at = now() where key = new.key;
    update nightwriter.key_total set paused_at = null where key = new.key;`,
  "a cancellation": `update nightwriter.run set cancelled_at = now();
    update nightwriter.run set cancelled_at = null;`,
  "a park": `update nightwriter.run_item set status = 'parked';
    update nightwriter.run_item set status = 'due';`,
  "a move to another partition": `update nightwriter.run_item set partition = 1;
    update nightwriter.run_item set partition = 0;`,
  "a closed date": `update nightwriter.job set closed_through = '${date}';
    update nightwriter.job set closed_through = null;`,
};

/** Makes every write of a total change nothing: a bug as the write cannot see it. Before that, `verb` is done. */
async function applyNothing(night: Night, verb: string): Promise<ItemOutcome[]> {
  const items = await plan(night, { request: "mine" });
  await sql`create function nightwriter.write_nothing() returns trigger language plpgsql as ${sql.lit(`
    begin
      ${verb}
      return null;
    end`)}`.execute(night.test.db);
  await sql`create trigger write_nothing before update on nightwriter.key_total for each row
    when (old.version <> new.version) execute function nightwriter.write_nothing()`.execute(night.test.db);
  return apply(night, items);
}

describe.each(bothPostgres)("what was not applied on PostgreSQL %s", (server) => {
  test("is parked as a bug when nothing stood in its way, twice, and nothing was touched in between", async () => {
    await using night = await openNight(server);
    const reason = "bug: not applied at version 1 although nothing stood in its way";
    expect(await applyNothing(night, "")).toEqual([{ outcome: "parked", sqlstate: undefined, reason }]);
  });

  test.each(Object.entries(verbs))("is no bug, but tried again, when %s came and went", async (_name, verb) => {
    await using night = await openNight(server);
    expect(await applyNothing(night, verb)).toEqual([{ outcome: "conflict" }]);
  });

  test("is no bug when a client pauses and resumes keys as fast as it can", async () => {
    await using night = await openNight(server, 60);
    const items = await plan(night, { request: "mine" });
    const toggled = { key: items[0]?.key, done: false };
    const toggling = night.test.database.session(async (client) => {
      while (!toggled.done) {
        for (const paused of ["now()", "null"]) {
          await client.query(`update nightwriter.key_total set paused_at = ${paused} where key = $1`, [toggled.key]);
        }
      }
    });
    const outcomes: ItemOutcome[] = [];
    try {
      for (const item of items) {
        toggled.key = item.key;
        outcomes.push(...(await apply(night, [item])));
      }
    } finally {
      toggled.done = true;
      await toggling;
    }
    expect(outcomes.filter(({ outcome }) => outcome === "parked" || outcome === "unknown")).toEqual([]);
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toContain("applied");
  });
});
