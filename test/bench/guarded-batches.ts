/** The guarded statement alone: batches of one partition each, over a few connections, no queue and no worker around it. */
import { createHash } from "node:crypto";
import { invariant } from "@nightwriter/core";
import { guardedWrite, type Item } from "@nightwriter/ledger";
import { readTerms } from "@nightwriter/partition";
import { connections, itemsByPartition, type Ledger, type Night } from "./ledger.ts";

const batchSize = 200;

/** Items of one partition, for one statement. */
export interface Batch {
  readonly partition: number;
  readonly items: readonly Item[];
}

/**
 * The night's due items in batches, each of keys that are next to each other in hashed order: nowhere in an index or a table
 * are they neighbours. Partitions take turns. `wanted` narrows the keys.
 */
export async function batchesOf(
  ledger: Ledger,
  night: Night,
  wanted: (key: string) => boolean = () => true,
): Promise<Batch[]> {
  const batches: Batch[] = [];
  for (const [partition, items] of await itemsByPartition(ledger, night)) {
    const hashed = items
      .filter(({ key }) => wanted(key))
      .map((item) => ({ item, hash: createHash("md5").update(`batch${item.key}`).digest("hex") }))
      .toSorted((one, other) => (one.hash < other.hash ? -1 : 1))
      .map(({ item }) => item);
    for (let start = 0; start < hashed.length; start += batchSize) {
      batches.push({ partition, items: hashed.slice(start, start + batchSize) });
    }
  }
  return batches.toSorted((one, other) => rank(one) - rank(other));

  function rank({ items: [first] }: Batch): number {
    return createHash("md5")
      .update(first?.key ?? "")
      .digest()
      .readUInt32BE(0);
  }
}

/** Applies the batches and returns items per second. Throws when one item is not applied: then the rate means nothing. */
export async function applyBatches({ writing, job }: Ledger, batches: readonly Batch[]): Promise<number> {
  const statement = guardedWrite(writing.db, job);
  // A worker that was measured before has raised them.
  const terms = await readTerms(writing, job);
  const waiting = [...batches];
  let written = 0;
  const drain = async (): Promise<void> => {
    for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
      const { partition, items } = batch;
      const term = terms.find((each) => each.partition === partition);
      invariant(term !== undefined, `partition ${partition}: has no term`);
      const { rows } = await writing.run(
        statement.bind({
          runIds: items.map((item) => item.runId),
          keys: items.map((item) => item.key),
          businessDates: items.map((item) => item.businessDate),
          runs: [...new Set(items.map((item) => item.runId))],
          partition,
          fencingToken: term.fencingToken,
          nonce: term.nonce,
          worker: "bench",
        }),
      );
      invariant(rows.length === items.length, `batch of ${items.length}: ${rows.length} were applied`);
      written += rows.length;
    }
  };
  const startMs = performance.now();
  await Promise.all(Array.from({ length: connections }, drain));
  return (written * 1_000) / (performance.now() - startMs);
}
