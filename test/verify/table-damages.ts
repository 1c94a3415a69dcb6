/** What can go wrong around a ledger: items, runs, terms, and the guards of the tables. The history is that of history.ts. */
import { type Damage, last } from "./damages.ts";
import { nights } from "./history.ts";

const [first, second, third] = nights;

export const tableDamages: Readonly<Record<string, readonly Damage[]>> = {
  "items-whole": [
    {
      what: "an exact double of an item",
      plant: [
        "alter table nightwriter.run_item drop constraint run_item_pkey",
        `insert into nightwriter.run_item select * from nightwriter.run_item where key = 'r0003' and business_date = '${third}'`,
      ],
      broken: [
        { rule: "items-whole", key: "r0003", date: third, measure: "items", expected: 1n, actual: 2n },
        {
          rule: "guards-in-place",
          measure: "constraint run_item_pkey of nightwriter.run_item",
          expected: 1n,
          actual: 0n,
        },
      ],
    },
    ...["parked", "cancelled"].map((status) => ({
      what: `an applied item that is marked ${status}`,
      plant: [
        `update nightwriter.run_item set status = '${status}' where key = 'r0003' and business_date = '${third}'`,
      ],
      broken: [
        {
          rule: "items-whole",
          key: "r0003",
          date: third,
          measure: "entries of a withdrawn item",
          expected: 0n,
          actual: 1n,
        },
      ],
    })),
    {
      what: "an item that waits in the partition of other keys",
      plant: [
        `insert into nightwriter.run_item (run_id, business_date, key, partition, status)
         select id, '${second}', 'r0003', 5, 'parked' from nightwriter.run where business_date = '${third}'`,
      ],
      broken: [{ rule: "items-whole", key: "r0003", date: second, measure: "partition", expected: 0n, actual: 5n }],
    },
    {
      what: "a lost run of which nothing was applied",
      plant: [
        `insert into nightwriter.run_item (run_id, business_date, key, partition) values (4711, '${second}', 'r0003', 0)`,
      ],
      broken: [{ rule: "items-whole", key: "r0003", date: second, measure: "runs", expected: 1n, actual: 0n }],
    },
    {
      what: "a lost run",
      plant: [`delete from nightwriter.run where business_date = '${third}'`],
      broken: [
        ...["r0001", "r0001", "r0002", "r0003"].map((key, index) => ({
          rule: "one-entry-per-item",
          key,
          date: index === 0 ? first : third,
          measure: "items",
          expected: 1n,
          actual: 0n,
        })),
        ...["r0001", "r0001", "r0002", "r0003"].map((key, index) => ({
          rule: "items-whole",
          key,
          date: index === 0 ? first : third,
          measure: "runs",
          expected: 1n,
          actual: 0n,
        })),
      ],
    },
  ],
  "one-night-per-date": [
    {
      what: "a second night of a date",
      plant: [
        "drop index nightwriter.run_nightly",
        `insert into nightwriter.run (job_id, business_date, kind, plan_snapshot, plan_epoch, planned_at, finished_at)
         select job_id, business_date, kind, plan_snapshot, plan_epoch, planned_at, finished_at
         from nightwriter.run where business_date = '${second}' and kind = 'nightly'`,
      ],
      broken: [
        { rule: "one-night-per-date", date: second, measure: "nightly runs", expected: 1n, actual: 2n },
        { rule: "guards-in-place", measure: "index run_nightly of nightwriter.run", expected: 1n, actual: 0n },
      ],
    },
  ],
  "within-term": [
    {
      what: "an entry under a token that no term had",
      plant: [
        "update nightwriter.job set fencing_token = 40",
        `update nightwriter.ledger_entry set fencing_token = 34 where ${last}`,
        "update nightwriter.key_total set fencing_token = 34 where key = 'r0003'",
      ],
      broken: [
        {
          rule: "within-term",
          key: "r0003",
          date: third,
          version: 3n,
          measure: "terms of its token",
          expected: 1n,
          actual: 0n,
        },
      ],
    },
  ],
  "terms-whole": [
    {
      what: "a token of a key, in its entries and its row, that was never handed out",
      plant: [
        `update nightwriter.ledger_entry set fencing_token = 1000000000 where ${last}`,
        "update nightwriter.key_total set fencing_token = 1000000000 where key = 'r0003'",
      ],
      broken: [
        {
          rule: "terms-whole",
          key: "r0003",
          date: third,
          version: 3n,
          measure: "fencing_token",
          expected: 1n,
          actual: 1_000_000_000n,
        },
        { rule: "terms-whole", key: "r0003", measure: "token of the row", expected: 1n, actual: 1_000_000_000n },
      ],
    },
    {
      what: "a counter that is behind a term",
      plant: [
        "update nightwriter.partition_term set fencing_token = 34",
        "update nightwriter.job set ended_terms_after = 1",
      ],
      broken: [{ rule: "terms-whole", measure: "token of partition 0", expected: 1n, actual: 34n }],
    },
    {
      what: "a partition without a term",
      plant: ["update nightwriter.job set partition_count = 2"],
      broken: [{ rule: "terms-whole", measure: "terms of partition 1", expected: 1n, actual: 0n }],
    },
    {
      what: "two terms with one token",
      plant: [
        "update nightwriter.job set partition_count = 2",
        "insert into nightwriter.partition_term (job_id, partition, fencing_token, holder) select id, 1, 1, 'nobody' from nightwriter.job",
      ],
      broken: [{ rule: "terms-whole", measure: "terms with token 1", expected: 1n, actual: 2n }],
    },
  ],
  "guards-in-place": [
    {
      what: "a trigger that is switched off",
      plant: ["alter table nightwriter.ledger_entry disable trigger ledger_entry_append_only"],
      broken: [
        {
          rule: "guards-in-place",
          measure: "trigger ledger_entry_append_only of nightwriter.ledger_entry",
          expected: 1n,
          actual: 0n,
        },
      ],
    },
    {
      what: "a trigger of sales.sale that is gone",
      plant: ["drop trigger sale_append_only on sales.sale"],
      broken: [
        { rule: "guards-in-place", measure: "trigger sale_append_only of sales.sale", expected: 1n, actual: 0n },
      ],
    },
    {
      what: "a trigger of sales.opening_total that is gone",
      plant: ["drop trigger opening_total_append_only on sales.opening_total"],
      broken: [
        {
          rule: "guards-in-place",
          measure: "trigger opening_total_append_only of sales.opening_total",
          expected: 1n,
          actual: 0n,
        },
      ],
    },
    {
      what: "a trigger of nightwriter.acknowledgement that is gone",
      plant: ["drop trigger acknowledgement_append_only on nightwriter.acknowledgement"],
      broken: [
        {
          rule: "guards-in-place",
          measure: "trigger acknowledgement_append_only of nightwriter.acknowledgement",
          expected: 1n,
          actual: 0n,
        },
      ],
    },
    {
      what: "a check of stamps that lets every row pass",
      plant: [
        "alter table nightwriter.ended_term drop constraint ended_term_own_stamp",
        "alter table nightwriter.ended_term add constraint ended_term_own_stamp check (xid is not null) not valid",
      ],
      broken: [
        {
          rule: "guards-in-place",
          measure: "stamp ended_term_own_stamp of nightwriter.ended_term",
          expected: 1n,
          actual: 0n,
        },
      ],
    },
    {
      what: "a constraint that is there by its name only",
      plant: [
        "alter table nightwriter.ledger_entry drop constraint ledger_entry_item",
        "alter table nightwriter.ledger_entry add constraint ledger_entry_item unique (job_id, business_date, key, run_id, xid)",
      ],
      broken: [
        {
          rule: "guards-in-place",
          measure: "constraint ledger_entry_item of nightwriter.ledger_entry",
          expected: 1n,
          actual: 0n,
        },
      ],
    },
  ],
};
