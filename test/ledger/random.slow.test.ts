/** The write in a storm: random, but from a seed. */

import { systemClock } from "@nightwriter/core";
import { type Database, openDatabase } from "@nightwriter/database";
import { type RuleName, type VerifyReport, verify } from "@nightwriter/ledger";
import { bothPostgres, seededRandom } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { type Night, openNight, withoutVersion, writeText } from "./night.ts";
import { dates, storm } from "./storm.ts";

const keyCount = 4;
const itemCount = 400;
/** A write that is wrong is to be found out in so many storms of so many items. */
const wrong = { roundCount: 8, itemCount: 100 };
/** Seconds on a machine of one's own; counted in batches, not in time, on any other. */
const timeoutMs = 300_000;

async function verified({ test: { url }, job }: Night): Promise<VerifyReport> {
  await using database = openDatabase({ url, applicationName: "verify", statementTimeoutMs: 0 });
  return await verify(database, job, { now: systemClock.now() });
}

/** Each key with its total and, without asking the ledger, with what all its sales amount to. */
async function totals({ test: { db } }: Night): Promise<{ key: string; total: bigint; sales: bigint }[]> {
  const { rows } = await sql<{ key: string; total: bigint; sales: bigint }>`
    select it.key, it.total_minor as total, sum(sale.amount_minor)::bigint as sales
    from nightwriter.key_total as it join sales.sale on sale.restaurant_id = it.key
    group by it.key, it.total_minor order by it.key`.execute(db);
  return rows;
}

/** A database on which the write is another one. */
function spoiled(database: Database, [right, wrong]: readonly [string, string]): Database {
  return {
    ...database,
    run: async (query) => database.run({ ...query, sql: query.sql === right ? wrong : query.sql }),
  };
}

describe.each(bothPostgres)("a storm over a night on PostgreSQL %s", (server) => {
  test(
    "leaves no gap, no fork and no sale behind, and every delta as its snapshot has it",
    async () => {
      await using night = await openNight(server, keyCount);
      const weather = await storm(night, { random: seededRandom(), itemCount, name: "storm" });
      const report = await verified(night);
      expect(report.rules.flatMap((rule) => rule.violations)).toEqual([]);
      expect(report).toMatchObject({ clean: true, outstandingSums: [] });
      expect(report.rules.map((rule) => rule.status)).toEqual(report.rules.map(() => "holds"));
      // One entry for each item: the first night's, the storm's, and the last runs'.
      expect(report.entryCount).toBe(keyCount + itemCount + dates.length * keyCount);
      for (const { total, sales } of await totals(night)) expect(total).toBe(sales);
      // It was a storm.
      const { applied, duplicate, fenced, unknown, raised, recorded, terminated } = weather;
      for (const count of [applied, duplicate, fenced, unknown, raised, recorded, terminated]) {
        expect(count, JSON.stringify(weather)).toBeGreaterThan(0);
      }
      expect(weather).toMatchObject({ parked: 0, withdrawn: 0 });
    },
    timeoutMs,
  );
});

describe("a storm over a night with a write that does not compare versions", () => {
  test(
    `is found out within ${wrong.roundCount} rounds of ${wrong.itemCount} items`,
    async () => {
      await using night = await openNight("18", keyCount);
      const random = seededRandom();
      const texts = [writeText(night), writeText(night, withoutVersion)] as const;
      const spoil = (database: Database): Database => spoiled(database, texts);
      const violated = new Set<RuleName>();
      for (let round = 1; round <= wrong.roundCount && !violated.has("delta-from-snapshot"); round++) {
        await storm(night, { random, itemCount: wrong.itemCount, name: `round ${round}`, spoil });
        for (const { rule, status } of (await verified(night)).rules) if (status === "violated") violated.add(rule);
      }
      // Not by the totals: a run that comes later takes back what was added twice.
      expect([...violated].toSorted()).toEqual(["delta-from-snapshot", "snapshot-order"]);
    },
    timeoutMs,
  );
});
