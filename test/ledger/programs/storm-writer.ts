/**
 * A writer of a storm as a process of its own, of whichever build: it is handed batches and answers their outcomes.
 *
 * It runs from today's checkout and imports the product from the root of the build. A line of standard input is a batch, a line of
 * standard output its answer.
 */
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { silentLogger } from "@nightwriter/core";
import type * as DatabasePackage from "@nightwriter/database";
import type * as JobPackage from "@nightwriter/job";
import type * as LedgerPackage from "@nightwriter/ledger";
import type * as PartitionPackage from "@nightwriter/partition";
import type * as RestaurantTotals from "@nightwriter/restaurant-totals";

export interface StormWriter {
  readonly root: string;
  readonly databaseUrl: string;
  readonly name: string;
}

/** An item as a line has it. */
export interface WrittenItem {
  readonly runId: string;
  readonly key: string;
  readonly businessDate: string;
}

/** In the order of the batch. Undefined: there was no term to write under, so that nothing was tried. */
export interface WriterAnswer {
  readonly outcomes: readonly LedgerPackage.ItemOutcome["outcome"][] | undefined;
}

const options = JSON.parse(process.env["STORM_WRITER"] ?? "") as StormWriter;

async function load<Module>(room: string): Promise<Module> {
  return (await import(pathToFileURL(`${options.root}/packages/${room}/src/index.ts`).href)) as Module;
}

const { openDatabase, SqlFault } = await load<typeof DatabasePackage>("database");
const { registerJob } = await load<typeof JobPackage>("job");
const { readTerms } = await load<typeof PartitionPackage>("partition");
const { applyItems } = await load<typeof LedgerPackage>("ledger");
const { restaurantTotals } = await load<typeof RestaurantTotals>("restaurant-totals");

await using database = openDatabase({ url: options.databaseUrl, applicationName: "writer", max: 1 });
const job = await registerJob(database, { ...restaurantTotals, partitionCount: 1 });
let term: PartitionPackage.Term | undefined;

async function currentTerm(): Promise<PartitionPackage.Term | undefined> {
  try {
    return (await readTerms(database, job))[0];
  } catch (error) {
    if (error instanceof SqlFault && error.retryable) return undefined;
    throw error;
  }
}

async function write(batch: readonly WrittenItem[]): Promise<WriterAnswer> {
  term ??= await currentTerm();
  if (term === undefined) return { outcomes: undefined };
  const items = batch.map((item) => ({ ...item, runId: BigInt(item.runId) }));
  const outcomes = await applyItems({ database, job, term, worker: options.name, logger: silentLogger }, items);
  if (outcomes.some(({ outcome }) => outcome === "fenced")) term = undefined;
  return { outcomes: outcomes.map(({ outcome }) => outcome) };
}

const tell = (answer: WriterAnswer): void => void process.stdout.write(`${JSON.stringify(answer)}\n`);

tell({ outcomes: undefined });
for await (const line of createInterface({ input: process.stdin })) {
  tell(await write(JSON.parse(line) as WrittenItem[]));
}
