/** What the server does with the statements of a run when its statistics know nothing of tonight's. */

import type { Database } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { countDue, dueItems, finishRuns } from "@nightwriter/run";
import { type CompiledQuery, sql } from "kysely";
import { describe, expect, it } from "vitest";
import { testJob } from "./test-job.ts";

describe("reading what is due", () => {
  it("looks each item of a fresh run up by index, and neither scans nor joins the ledger", async () => {
    await using night = await testJob({ restaurants: 0 });
    const { db, database, job } = night;
    await sql`insert into sales.restaurant (id, name, time_zone, currency)
      select 'r' || n, 'R', 'UTC', 'EUR' from generate_series(1, 3000) n`.execute(db);
    const { run: before } = await night.plan("2026-03-13");
    await sql`insert into nightwriter.ledger_entry (job_id, run_id, key, business_date, delta_minor, source_count,
        fencing_token, version_after, total_after, source_snapshot, worker)
      select ${job.id}, run_id, key, business_date, 0, 0, 1, 1, 0, pg_current_snapshot(), 'test'
      from nightwriter.run_item where run_id = ${before.id}`.execute(db);
    await finishRuns(database, job);
    await sql`analyze nightwriter.run_item, nightwriter.ledger_entry, nightwriter.key_total`.execute(db);
    await night.plan("2026-03-14");

    const plans = await plansOf(database, job);
    expect(plans).toHaveLength(2);
    for (const plan of plans) {
      expect(plan).toContain("Index Scan using ledger_entry_item on ledger_entry");
      expect(plan).toMatch(/Index Scan using run_item_pkey on run_item|Bitmap Index Scan on run_item_pkey/);
      expect(plan).not.toMatch(/Seq Scan on (ledger_entry|run_item)|Join/);
    }
  });

  it("pages through more items than a page has, each once, in order", async () => {
    await using night = await testJob({ restaurants: 0 });
    await sql`insert into sales.restaurant (id, name, time_zone, currency)
      select 'r' || n, 'R', 'UTC', 'EUR' from generate_series(1, 10001) n`.execute(night.db);
    await night.plan("2026-03-14");
    const pages: string[][] = [];
    for await (const page of dueItems(night.database, night.job)) pages.push(page.map(({ key }) => key));
    expect(pages.map((page) => page.length)).toEqual([5_000, 5_000, 1]);
    const keys = pages.flat();
    expect(keys).toEqual(keys.toSorted());
    expect(new Set(keys).size).toBe(10_001);
    const counts = await countDue(night.database, night.job);
    expect(counts.values().reduce((sum, count) => sum + count, 0)).toBe(10_001);
  });
});

/** The plans of the statements over run_item that paging and counting send. */
async function plansOf(database: Database, job: Job): Promise<string[]> {
  const sent: CompiledQuery[] = [];
  const spy = database.db.withPlugin({
    transformQuery: ({ node }) => {
      sent.push(database.db.getExecutor().compileQuery(node, { queryId: "test" }));
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  for await (const page of dueItems({ ...database, db: spy }, job)) expect(page.length).toBeGreaterThan(0);
  await countDue({ ...database, db: spy }, job);
  const [page, count] = [sent.find(({ sql }) => sql.includes("limit")), sent.find(({ sql }) => sql.includes("count"))];
  const plans: string[] = [];
  for (const query of [page, count]) {
    if (query === undefined) continue;
    const explain = { ...query, sql: `explain ${query.sql}` };
    const { rows } = await database.db.executeQuery<{ "QUERY PLAN": string }>(explain);
    plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
  }
  return plans;
}
