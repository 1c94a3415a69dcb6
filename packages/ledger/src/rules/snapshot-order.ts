/**
 * That no delta was computed from a past in which another write was still under way: what the version check of the write is for.
 *
 * An entry's snapshot must have seen the entry before it. Snapshots of a chain that is in order only ever see more, so each has
 * then seen all earlier entries of its key: whatever a delta subtracts, its snapshot saw.
 */
import { sql } from "kysely";
import type { ChainCheck } from "./chain-check.ts";

export const snapshotOrder: readonly ChainCheck[] = [
  {
    rule: "snapshot-order",
    measure: "epoch",
    broken: sql<boolean>`(entry.epoch < previous.epoch)`,
    expected: sql`previous.epoch`,
    actual: sql`entry.epoch`,
  },
  {
    // The transaction of the entry before, which is missing from what the snapshot saw.
    rule: "snapshot-order",
    measure: "xid seen",
    broken: sql<boolean>`(entry.epoch = previous.epoch
      and not pg_visible_in_snapshot(previous.xid, entry.source_snapshot))`,
    expected: sql`previous.xid`,
    actual: sql`null`,
  },
  {
    // The write is one statement: its snapshot is there before its transaction has an id, so the id is above all that it saw end.
    rule: "snapshot-order",
    measure: "xid",
    broken: sql<boolean>`(entry.xid < pg_snapshot_xmax(entry.source_snapshot))`,
    expected: sql`pg_snapshot_xmax(entry.source_snapshot)`,
    actual: sql`entry.xid`,
  },
];
