/** The write in a storm: random, but from a seed. */

import type { RuleName } from "@nightwriter/ledger";
import { bothPostgres, olderBuild, type PostgresVersion, seededRandom } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { type Night, openNight } from "./night.ts";
import { type Storm, storm } from "./storm.ts";
import { history, keyCount, verified, violatedWithoutVersion, wrong, wrongStorms } from "./wrong-storms.ts";
import { withoutFence, withoutWithdrawal } from "./wrong-writes.ts";

/** So many that a write which waited behind a park is seldom overtaken at its key: what stops it then is not what was left out. */
const manyKeys = 16;
const itemCount = 400;
/** Seconds on a machine of one's own; counted in batches, not in time, on any other. */
const timeoutMs = 300_000;

/** Each key with its total and, without asking the ledger, with what all its sales amount to. */
async function totals({ test: { db } }: Night): Promise<{ key: string; total: bigint; sales: bigint }[]> {
  const { rows } = await sql<{ key: string; total: bigint; sales: bigint }>`
    select it.key, it.total_minor as total, sum(sale.amount_minor)::bigint as sales
    from nightwriter.key_total as it join sales.sale on sale.restaurant_id = it.key
    group by it.key, it.total_minor order by it.key`.execute(db);
  return rows;
}

/** A storm that leaves no gap, no fork and no sale behind, every delta as its snapshot has it, and what was taken back alone. */
async function expectWeathered(server: PostgresVersion, older?: Storm["older"]): Promise<void> {
  await using night = await openNight(server, keyCount, history);
  const { weather, broken } = await storm(night, { random: seededRandom(), itemCount, name: "storm", older });
  expect(broken).toEqual([]);
  const report = await verified(night);
  expect(report.rules.flatMap((rule) => rule.violations)).toEqual([]);
  expect(report).toMatchObject({ clean: true, outstandingSums: [] });
  for (const { total, sales } of await totals(night)) expect(total).toBe(sales);
  // It was a storm.
  const { applied, duplicate, fenced, unknown, withdrawn, raised, recorded, terminated } = weather;
  for (const count of [applied, duplicate, fenced, unknown, withdrawn, raised, recorded, terminated]) {
    expect(count, JSON.stringify(weather)).toBeGreaterThan(0);
  }
  expect(weather).toMatchObject({ parked: 0, failing: 0 });
}

describe.each(bothPostgres)("a storm over a night on PostgreSQL %s", (server) => {
  test("leaves totals exact, and alone what was taken back", async () => expectWeathered(server), timeoutMs);
});

describe("a storm of which half the writers are of build c241fd6", () => {
  test(
    "leaves totals exact, and alone what was taken back",
    async () => expectWeathered("18", await olderBuild("c241fd6", "a storm with half its writers of that build")),
    timeoutMs,
  );
});

describe("a storm over a night with a write that does not compare versions", () => {
  test(
    `is found out within ${wrong.roundCount} rounds of ${wrong.itemCount} items`,
    async () => {
      const violated = await violatedWithoutVersion();
      // Not by the totals: a run that comes later takes back what was added twice.
      expect([...violated].toSorted()).toEqual(["delta-from-snapshot", "snapshot-order"]);
    },
    timeoutMs,
  );
});

describe("a storm over a night with a write that does not ask whether it was taken back", () => {
  test.each(Object.entries(withoutWithdrawal))(
    "is found out, by what was applied afterwards, without its %s",
    async (_, replacements) => {
      const broken: string[] = [];
      await wrongStorms({ replacements, keys: manyKeys }, (found) => {
        broken.push(...found.broken);
        return broken.length > 0;
      });
      expect(broken).not.toEqual([]);
    },
    timeoutMs,
  );
});

describe("a storm over a night with a write without a fence", () => {
  test.each(Object.entries(withoutFence))(
    "is found out by verify without its %s",
    async (_, replacements) => {
      const violated = new Set<RuleName>();
      await wrongStorms({ replacements, keys: keyCount }, (_found, report) => {
        for (const { rule, status } of report.rules) if (status === "violated") violated.add(rule);
        return violated.has("within-term");
      });
      expect([...violated]).toContain("within-term");
    },
    timeoutMs,
  );
});
