/**
 * The plan of the write at a million keys: index lookups, for small and large batches, with custom and generic plans,
 * when statistics know nothing of tonight's run.
 */
import { type Database, openDatabase, type Session } from "@nightwriter/database";
import { registerJob } from "@nightwriter/job";
import { guardedWrite } from "@nightwriter/ledger";
import { readTerms } from "@nightwriter/partition";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const keyCount = 1_000_000;
/** So much of tonight's run has its entries when the trap is sprung. */
const appliedCount = 50_000;
const batchSizes = [1, 10, 100, 500];
const filled = ["key_total", "run_item", "ledger_entry", "sale"];
/** The last one has no rows, so that a planner reads it whole unless it is told not to. */
const tables = [...filled, "opening_total"];

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

let night: TestDatabase;
let text: string;
let bind: (size: number) => readonly unknown[];

beforeAll(async () => {
  night = await testDatabase({ max: 2 });
  const job = await registerJob(night.database, { ...restaurantTotals, partitionCount: 1 });
  await using patient = openDatabase({ url: night.url, applicationName: "fill", max: 1, statementTimeoutMs: 0 });
  await fill(patient, job.id);
  const [term] = await readTerms(night.database, job);
  const statement = guardedWrite(night.db, job);
  text = statement.sql;
  bind = (size) => {
    const keys = Array.from({ length: size }, (_, index) => `r${(index * 7_919) % keyCount}`);
    const runIds = keys.map(() => 2n);
    const businessDates = keys.map(() => "2026-03-02");
    const { partition = 0, fencingToken = 0n, nonce = "" } = term ?? {};
    return statement.bind({ keys, runIds, businessDates, runs: [2n], partition, fencingToken, nonce, worker: "test" })
      .parameters;
  };
}, 600_000);

afterAll(async () => night[Symbol.asyncDispose]());

/** Last night applied and analyzed; tonight planned after that, so that no statistics know of it. */
async function fill(database: Database, jobId: number): Promise<void> {
  const keys = `generate_series(0, ${keyCount - 1}) i`;
  const statements = [
    "set session_replication_role = replica",
    `insert into sales.restaurant (id, name, time_zone, currency) select 'r' || i, 'R', 'UTC', 'INR' from ${keys}`,
    `insert into nightwriter.run (job_id, business_date, kind) values (${jobId}, '2026-03-01', 'nightly')`,
    `insert into nightwriter.run_item (run_id, business_date, key, partition) select 1, '2026-03-01', 'r' || i, 0 from ${keys}`,
    `insert into nightwriter.key_total (job_id, key, version) select ${jobId}, 'r' || i, 1 from ${keys}`,
    `insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor, epoch)
      select 'r' || i, date '2026-03-02', 'till', i, 100, 1 from ${keys}`,
    `insert into nightwriter.ledger_entry (job_id, run_id, key, business_date, delta_minor, source_count, fencing_token,
        version_after, total_after, source_snapshot, epoch, worker)
      select ${jobId}, 1, 'r' || i, '2026-03-01', 0, 0, 1, 1, 0, '1:1:', 1, 'w' from ${keys}`,
    "analyze",
    `insert into nightwriter.run (job_id, business_date, kind) values (${jobId}, '2026-03-02', 'nightly')`,
    `insert into nightwriter.run_item (run_id, business_date, key, partition) select 2, '2026-03-02', 'r' || i, 0 from ${keys}`,
    "reset session_replication_role",
  ];
  await database.session(async (session) => {
    for (const each of statements) await session.query(each);
  });
}

/** How many rows of each table the statement touched, and which of them it read from end to end. */
async function touched(
  text: string,
  size: number,
  { mode, database = night.database }: { mode: "force_custom_plan" | "force_generic_plan"; database?: Database },
): Promise<Touched> {
  return database.session(async (session) => {
    await session.query(`set plan_cache_mode = ${mode}`);
    await session.query("begin");
    try {
      return summarise(await explain(session, text, size));
    } finally {
      await session.query("rollback");
      await session.query("deallocate all");
    }
  });
}

async function explain(session: Session, text: string, size: number): Promise<PlanNode> {
  const parameters = bind(size);
  await session.query(`prepare written as ${text}`);
  const values = parameters.map((each) => literal(each)).join(", ");
  const rows = await session.query<{ "QUERY PLAN": [{ Plan: PlanNode }] }>(
    `explain (analyze, format json) execute written(${values})`,
  );
  const [plan] = rows[0]?.["QUERY PLAN"] ?? [];
  if (plan === undefined) throw new Error("explain answered nothing");
  return plan.Plan;
}

function literal(value: unknown): string {
  const text = Array.isArray(value) ? `{${value.join(",")}}` : String(value);
  return `'${text}'`;
}

interface Touched {
  readonly rows: Readonly<Record<string, number>>;
  readonly scanned: readonly string[];
}

function summarise(root: PlanNode): Touched {
  const rows: Record<string, number> = {};
  const scanned: string[] = [];
  const visit = (node: PlanNode): void => {
    const table = node["Relation Name"];
    if (table !== undefined && tables.includes(table) && node["Node Type"] !== "ModifyTable") {
      const each = node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0);
      rows[table] = (rows[table] ?? 0) + each * node["Actual Loops"];
      if (node["Node Type"] === "Seq Scan") scanned.push(table);
    }
    for (const child of node.Plans ?? []) visit(child);
  };
  visit(root);
  return { rows, scanned };
}

describe("the plan of the guarded write at 1,000,000 keys", () => {
  for (const mode of ["force_custom_plan", "force_generic_plan"] as const) {
    test.each(batchSizes)(`looks each item of a batch of %i up, with ${mode}`, async (size) => {
      const { rows, scanned } = await touched(text, size, { mode });
      expect(scanned.filter((table) => filled.includes(table))).toEqual([]);
      // key_total is read without a lock, with one, and to be updated; the others once for an item.
      expect(rows).toMatchObject({ key_total: 3 * size, run_item: size, sale: size });
      expect(rows["ledger_entry"] ?? 0).toBeLessThanOrEqual(size);
    });
  }

  test("reads no table whole, not even one that is empty, in a pool of index lookups", async () => {
    await using lookups = openDatabase({ url: night.url, applicationName: "lookups", max: 1, indexLookups: true });
    const mode = "force_generic_plan";
    expect((await touched(text, 100, { mode, database: lookups })).scanned).toEqual([]);
    expect((await touched(text, 100, { mode })).scanned).toEqual(["opening_total"]);
  });

  test("trap: not exists over the run's own entries reads all of them for each batch, the lookups none", async () => {
    const wrong = replacedOnce(
      /as "source" on true where not entered\.is_applied/,
      `as "source" on true where not exists (select from nightwriter.ledger_entry it where it.job_id = 1 and it.run_id = 2
        and it.key = lck.key and it.business_date = lck.business_date)`,
    );
    await night.database.session(async (session) => {
      await session.query("create index on nightwriter.ledger_entry (run_id)");
      await session.query(`insert into nightwriter.ledger_entry (job_id, run_id, key, business_date, delta_minor,
          source_count, fencing_token, version_after, total_after, source_snapshot, epoch, worker)
        select 1, 2, 'r' || i, '2026-03-02', 0, 0, 1, 2, 0, '1:1:', 1, 'w' from generate_series(${keyCount - appliedCount}, ${keyCount - 1}) i`);
    });
    const shipped = await touched(text, 100, { mode: "force_custom_plan" });
    const trapped = await touched(wrong, 100, { mode: "force_custom_plan" });
    expect(shipped.rows["ledger_entry"]).toBeLessThanOrEqual(100);
    expect(trapped.rows["ledger_entry"]).toBeGreaterThanOrEqual(appliedCount);
  });
});

function replacedOnce(pattern: RegExp, replacement: string): string {
  expect(text.match(new RegExp(pattern, "g"))).toHaveLength(1);
  return text.replace(pattern, replacement);
}
