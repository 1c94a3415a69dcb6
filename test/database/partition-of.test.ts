/** The partition of a key is the same number in SQL and in TypeScript. */

import { partitionOf } from "@nightwriter/partition";
import { bothPostgres, seededRandom, testDatabase } from "@nightwriter/testkit";
import fc from "fast-check";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";

/** Any characters that PostgreSQL can store, beyond the basic plane too. */
const key = fc.string({ unit: "binary", maxLength: 40 }).map((text) => text.replaceAll("\0", ""));
const question = fc.record({ key, count: fc.integer({ min: 1, max: 1_024 }) });

describe.each(bothPostgres)("nightwriter.partition_of on PostgreSQL %s", (server) => {
  test("is partitionOf, for 1,000 random keys and counts", async () => {
    await using test = await testDatabase({ server });
    const questions = fc.sample(question, { seed: seededRandom().seed, numRuns: 1_000 });
    const { rows } = await sql<{ partition: number }>`
      select nightwriter.partition_of(key, count) as partition
      from unnest(${questions.map((each) => each.key)}::text[], ${questions.map((each) => each.count)}::integer[])
        with ordinality as question (key, count, place)
      order by place`.execute(test.db);
    expect(rows.map((row) => row.partition)).toEqual(questions.map((each) => partitionOf(each.key, each.count)));
  });
});
