/** What can go wrong with a ledger, rule by rule, as SQL; and what verify has to say of it. The history is that of history.ts. */
import { type Broken, nights } from "./history.ts";

export interface Damage {
  readonly what: string;
  readonly plant: readonly string[];
  readonly broken: readonly Broken[];
}

/** Where an entry is found. */
export const entry = (key: string, version: number): string => `key = '${key}' and version_after = ${version}`;
/** The last entry of `r0003`, on the third date. */
export const last: string = entry("r0003", 3);
const [first, second, third] = nights;

export const damages: Readonly<Record<string, readonly Damage[]>> = {
  "one-entry-per-item": [
    {
      what: "an item that was applied a second time",
      plant: [
        "alter table nightwriter.ledger_entry drop constraint ledger_entry_item",
        `insert into nightwriter.ledger_entry (job_id, run_id, key, business_date, delta_minor, source_count, fencing_token,
           version_after, total_after, source_snapshot, worker)
         select job_id, run_id, key, business_date, 0, 1, fencing_token, 4, total_after, pg_current_snapshot(), worker
         from nightwriter.ledger_entry where ${last}`,
        "update nightwriter.key_total set version = 4 where key = 'r0003'",
      ],
      broken: [
        {
          rule: "one-entry-per-item",
          key: "r0003",
          date: third,
          version: 4n,
          measure: "entries",
          expected: 1n,
          actual: 2n,
        },
        {
          rule: "guards-in-place",
          measure: "constraint ledger_entry_item of nightwriter.ledger_entry",
          expected: 1n,
          actual: 0n,
        },
      ],
    },
    {
      what: "an entry whose item is gone",
      plant: [`delete from nightwriter.run_item where key = 'r0003' and business_date = '${third}'`],
      broken: [{ rule: "one-entry-per-item", key: "r0003", date: third, measure: "items", expected: 1n, actual: 0n }],
    },
    {
      what: "entries whose run belongs to another job",
      plant: [
        "insert into nightwriter.job (name, partition_count) values ('another', 1)",
        `update nightwriter.run set job_id = (select id from nightwriter.job where name = 'another')
         where business_date = '${second}' and kind = 'nightly'`,
      ],
      broken: ["r0001", "r0002", "r0003"].map((key) => ({
        rule: "one-entry-per-item",
        key,
        date: second,
        measure: "items",
        expected: 1n,
        actual: 0n,
      })),
    },
  ],
  "version-sequence": [
    {
      what: "a gap",
      plant: [
        `update nightwriter.ledger_entry set version_after = 4 where ${last}`,
        "update nightwriter.key_total set version = 4 where key = 'r0003'",
      ],
      broken: [
        { rule: "version-sequence", key: "r0003", date: third, version: 4n, measure: "version before", expected: 3n },
      ],
    },
    {
      what: "a history that does not begin at 1",
      plant: [
        "update nightwriter.ledger_entry set version_after = version_after + 10 where key = 'r0003'",
        "update nightwriter.key_total set version = version + 10 where key = 'r0003'",
      ],
      broken: [
        { rule: "version-sequence", key: "r0003", date: first, version: 11n, measure: "version before", expected: 10n },
      ],
    },
    {
      what: "a fork",
      plant: [
        "alter table nightwriter.ledger_entry drop constraint ledger_entry_version",
        `update nightwriter.ledger_entry set version_after = 4 where ${entry("r0002", 5)}`,
        "update nightwriter.key_total set version = 4 where key = 'r0002'",
      ],
      broken: [
        {
          rule: "version-sequence",
          key: "r0002",
          date: second,
          version: 4n,
          measure: "entries",
          expected: 1n,
          actual: 2n,
        },
        {
          rule: "guards-in-place",
          measure: "constraint ledger_entry_version of nightwriter.ledger_entry",
          expected: 1n,
          actual: 0n,
        },
      ],
    },
  ],
  "totals-chain": [
    {
      what: "a total that is 5 too high from the second entry on",
      plant: [
        "update nightwriter.ledger_entry set total_after = total_after + 5 where key = 'r0003' and version_after >= 2",
        "update nightwriter.key_total set total_minor = total_minor + 5 where key = 'r0003'",
      ],
      broken: [
        {
          rule: "totals-chain",
          key: "r0003",
          date: second,
          version: 2n,
          measure: "total_after",
          expected: 603n,
          actual: 608n,
        },
      ],
    },
    {
      what: "the largest total there can be, which nothing can be added to",
      plant: [
        `update nightwriter.ledger_entry set total_after = 9223372036854775807 where ${entry("r0003", 2)}`,
        `update nightwriter.ledger_entry set total_after = 9223372036854775807 where ${last}`,
        "update nightwriter.key_total set total_minor = 9223372036854775807 where key = 'r0003'",
      ],
      broken: [
        {
          rule: "totals-chain",
          key: "r0003",
          date: second,
          version: 2n,
          measure: "total_after",
          expected: 603n,
          actual: 9223372036854775807n,
        },
        {
          rule: "totals-chain",
          key: "r0003",
          date: third,
          version: 3n,
          measure: "total_after",
          expected: 9223372036854776110n,
          actual: 9223372036854775807n,
        },
      ],
    },
  ],
  "total-row": [
    {
      what: "a total that its last entry does not know",
      plant: ["update nightwriter.key_total set total_minor = 907 where key = 'r0003'"],
      broken: [
        {
          rule: "total-row",
          key: "r0003",
          date: third,
          version: 3n,
          measure: "total_minor",
          expected: 906n,
          actual: 907n,
        },
      ],
    },
    {
      what: "a version that was raised without an entry",
      plant: ["update nightwriter.key_total set version = 4 where key = 'r0003'"],
      broken: [
        { rule: "total-row", key: "r0003", date: third, version: 3n, measure: "version", expected: 3n, actual: 4n },
      ],
    },
    {
      what: "a token that was raised without an entry",
      plant: ["update nightwriter.key_total set fencing_token = 34 where key = 'r0003'"],
      broken: [
        {
          rule: "total-row",
          key: "r0003",
          date: third,
          version: 3n,
          measure: "fencing_token",
          expected: 1n,
          actual: 34n,
        },
        { rule: "terms-whole", key: "r0003", measure: "token of the row", expected: 1n, actual: 34n },
      ],
    },
    {
      what: "a missing row",
      plant: ["delete from nightwriter.key_total where key = 'r0003'"],
      broken: [{ rule: "total-row", key: "r0003", date: third, version: 3n, measure: "version", expected: 3n }],
    },
    {
      what: "an exact double of a row",
      plant: [
        "alter table nightwriter.key_total drop constraint key_total_pkey",
        "insert into nightwriter.key_total select * from nightwriter.key_total where key = 'r0003'",
      ],
      broken: [
        { rule: "total-row", key: "r0003", measure: "rows", expected: 1n, actual: 2n },
        {
          rule: "guards-in-place",
          measure: "constraint key_total_pkey of nightwriter.key_total",
          expected: 1n,
          actual: 0n,
        },
      ],
    },
    {
      what: "a total that no entry made",
      plant: [
        "insert into nightwriter.key_total (job_id, key, total_minor) select id, 'r0004', 5 from nightwriter.job",
      ],
      broken: [{ rule: "total-row", key: "r0004", measure: "total_minor", expected: 0n, actual: 5n }],
    },
  ],
  "token-order": [
    {
      what: "a write under an older token than the one before",
      plant: [`update nightwriter.ledger_entry set fencing_token = 34 where ${entry("r0003", 2)}`],
      broken: [
        {
          rule: "token-order",
          key: "r0003",
          date: third,
          version: 3n,
          measure: "fencing_token",
          expected: 34n,
          actual: 1n,
        },
        {
          rule: "terms-whole",
          key: "r0003",
          date: second,
          version: 2n,
          measure: "fencing_token",
          expected: 1n,
          actual: 34n,
        },
      ],
    },
  ],
  "query-order": [
    {
      what: "a write of a build whose source query had been replaced",
      plant: [`update nightwriter.ledger_entry set query_version = 2 where ${entry("r0003", 2)}`],
      broken: [
        {
          rule: "query-order",
          key: "r0003",
          date: third,
          version: 3n,
          measure: "query_version",
          expected: 2n,
          actual: 1n,
        },
      ],
    },
  ],
  "entries-equal-sources": [
    {
      what: "a sale that the last plan saw and nobody added",
      plant: [
        `insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor, xid)
         select 'r0003', '${first}', 'lost', 1, 9, xid from nightwriter.ledger_entry where ${entry("r0003", 2)}`,
      ],
      broken: [
        {
          rule: "entries-equal-sources",
          key: "r0003",
          date: first,
          measure: "sum of deltas",
          expected: 310n,
          actual: 301n,
        },
      ],
    },
  ],
  "finished-runs-complete": [
    {
      what: "a finished run with an item that was never applied",
      plant: [
        `insert into nightwriter.run_item (run_id, business_date, key, partition)
         select id, '${second}', 'r0003', 0 from nightwriter.run where business_date = '${third}'`,
      ],
      broken: [
        { rule: "finished-runs-complete", key: "r0003", date: second, measure: "entries", expected: 1n, actual: 0n },
      ],
    },
  ],
  "delta-from-snapshot": [
    {
      what: "an amount that was moved from one entry of a pair to another",
      plant: [
        `update nightwriter.ledger_entry set delta_minor = 106, total_after = 106 where ${entry("r0001", 1)}`,
        `update nightwriter.ledger_entry set total_after = 208 where ${entry("r0001", 2)}`,
        `update nightwriter.ledger_entry set delta_minor = 2 where ${entry("r0001", 3)}`,
      ],
      broken: [
        {
          rule: "delta-from-snapshot",
          key: "r0001",
          date: first,
          version: 1n,
          measure: "delta_minor",
          expected: 101n,
          actual: 106n,
        },
      ],
    },
    {
      what: "a delta from rows that its snapshot cannot have seen",
      plant: [
        `update nightwriter.ledger_entry set source_snapshot = (
           select format('%s:%s:', xid, xid)::pg_snapshot from sales.sale where restaurant_id = 'r0003' and business_date = '${third}'
         ) where ${last}`,
      ],
      broken: [
        {
          rule: "delta-from-snapshot",
          key: "r0003",
          date: third,
          version: 3n,
          measure: "delta_minor",
          expected: 0n,
          actual: 303n,
        },
        {
          rule: "delta-from-snapshot",
          key: "r0003",
          date: third,
          version: 3n,
          measure: "source_count",
          expected: 0n,
          actual: 1n,
        },
      ],
    },
    {
      what: "a count of rows that is not theirs",
      plant: [`update nightwriter.ledger_entry set source_count = 2 where ${last}`],
      broken: [
        {
          rule: "delta-from-snapshot",
          key: "r0003",
          date: third,
          version: 3n,
          measure: "source_count",
          expected: 1n,
          actual: 2n,
        },
      ],
    },
  ],
};
