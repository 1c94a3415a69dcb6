import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { codeVersionOf, describeCodeVersion } from "./code-version.ts";
import type { JobDefinition, Relation, StampedSourceRow } from "./job-definition.ts";

type Rows = Relation<StampedSourceRow>;

function definition(more: Partial<JobDefinition> = {}): JobDefinition {
  return {
    name: "totals",
    cron: "30 3 * * *",
    timeZone: "UTC",
    queryVersion: 1,
    partitionCount: 4,
    keys: (db) => db.selectFrom("sales.restaurant").select(["id as key", "active"]),
    source: { kind: "stamped", rows: () => sql`(select 1 as amount_minor)` as unknown as Rows },
    ...more,
  };
}

const hashOf = (more: Partial<JobDefinition> = {}): string | undefined => codeVersionOf(definition(more)).queryHash;
const rowsOf = (amount: number) => () => sql`(select ${amount} as amount_minor)` as unknown as Rows;

describe("codeVersionOf", () => {
  it("says the same of the same query, whatever else the definition says", () => {
    const other = { name: "other", cron: "0 0 * * *", timeZone: "Asia/Tokyo", queryVersion: 7, partitionCount: 9 };
    expect(
      hashOf({ ...other, keys: (db) => db.selectFrom("sales.restaurant").select(["name as key", "active"]) }),
    ).toBe(hashOf());
    expect(codeVersionOf(definition(other)).number).toBe(7);
  });

  it("tells queries apart by text, parameter, kind and days", () => {
    const text = () => sql`(select 2 as amount_minor)` as unknown as Rows;
    const hashes = [
      hashOf(),
      hashOf({ source: { kind: "stamped", rows: text } }),
      hashOf({ source: { kind: "stamped", rows: rowsOf(1) } }),
      hashOf({ source: { kind: "stamped", rows: rowsOf(2) } }),
      hashOf({ source: { kind: "lookback", days: 3, rows: rowsOf(2) } }),
      hashOf({ source: { kind: "lookback", days: 4, rows: rowsOf(2) } }),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it("is told by eight digits of the hash", () => {
    expect(describeCodeVersion({ number: 2, queryHash: `0f3a9c21${"0".repeat(56)}` })).toBe("2 (query 0f3a9c21)");
    expect(describeCodeVersion({ number: 2, queryHash: undefined })).toBe("2 (query unknown)");
  });
});
