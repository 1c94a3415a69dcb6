/** What is there when a scene begins, made by the same doors as any night: an opening total, two sales, one run. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { invariant, silentLogger, systemClock } from "@nightwriter/core";
import { type Database, migrateToLatest, sqlFault } from "@nightwriter/database";
import { type Job, registerJob } from "@nightwriter/job";
import { applyItems } from "@nightwriter/ledger";
import { partitionOf, readTerms } from "@nightwriter/partition";
import { openTotals, restaurantTotals, schemaLists } from "@nightwriter/restaurant-totals";
import { dueItems, ensureNightlyRun } from "@nightwriter/run";
import { importSales } from "@nightwriter/sales";
import { endsAt } from "@nightwriter/schedule";
import type { OrderedItem } from "./orders.ts";
import { RESTAURANT } from "./restaurant.ts";

/** Restaurant 77 is in Mumbai; its days are its own. */
const restaurant = { zone: "Asia/Kolkata", currency: "INR" } as const;
const OPENED_ON = "2026-03-26";
const TWO_ON = "2026-03-27";
const THREE_ON = "2026-03-28";

/** One below the token that A gets. */
const TOKEN_BEFORE = 32n;

/** The items of +2,000 and +3,000. */
export interface Prepared {
  readonly two: OrderedItem;
  readonly three: OrderedItem;
}

/** Makes the schema, opens restaurant 77 at 40,000, records two sales, and plans the night in which both are due. */
export async function prepare(database: Database, folder: string): Promise<Prepared> {
  await migrateToLatest(database, { lists: schemaLists });
  const job = await registerJob(database, restaurantTotals);
  await open(database, job, folder);
  await sell(database, folder);
  const businessDate = Temporal.PlainDate.from(THREE_ON);
  // The story's night is over whatever time it is where it is told.
  await ensureNightlyRun(database, job, { businessDate, now: endsAt(job, businessDate) });
  const items = await due(database, job);
  await raiseCounter(database, job);
  return { two: itemOf(items, TWO_ON), three: itemOf(items, THREE_ON) };
}

async function open(database: Database, job: Job, folder: string): Promise<void> {
  const file = join(folder, "opening.csv");
  await writeFile(file, `restaurant,total\n${RESTAURANT},40000.00\n`);
  const date = Temporal.PlainDate.from(OPENED_ON);
  await openTotals(database, job, { file, date, now: systemClock.now(), ...restaurant });
  const partition = partitionOf(RESTAURANT, job.partitionCount);
  const term = (await readTerms(database, job)).find((each) => each.partition === partition);
  invariant(term !== undefined, "each partition has a term");
  const context = { database, job, term, worker: "story", logger: silentLogger };
  const items = await due(database, job);
  const [outcome] = await applyItems(
    context,
    items.map((item) => ({ ...item, runId: BigInt(item.runId) })),
  );
  invariant(outcome?.outcome === "applied", "the opening total is an item like any other");
}

async function sell(database: Database, folder: string): Promise<void> {
  const file = join(folder, "sales.csv");
  await writeFile(
    file,
    `restaurant,sold,amount\n${RESTAURANT},${TWO_ON} 20:00,2000.00\n${RESTAURANT},${THREE_ON} 21:00,3000.00\n`,
  );
  await importSales(database, {
    file,
    restaurant: { column: "restaurant" },
    date: { column: "sold", format: "yyyy-MM-dd HH:mm" },
    amount: { column: "amount" },
    ...restaurant,
  });
}

async function due(database: Database, job: Job): Promise<OrderedItem[]> {
  const items: OrderedItem[] = [];
  for await (const page of dueItems(database, job)) {
    items.push(...page.map(({ runId, key, businessDate }) => ({ runId, key, businessDate })));
  }
  return items;
}

function itemOf(items: readonly OrderedItem[], businessDate: string): OrderedItem {
  const item = items.find((each) => each.businessDate === businessDate);
  invariant(item !== undefined, `the night has the item of ${businessDate}`);
  return item;
}

/** The job has raised many terms before: the next one has token 33. */
async function raiseCounter({ db }: Database, job: Job): Promise<void> {
  try {
    await db.updateTable("nightwriter.job").set({ fencing_token: TOKEN_BEFORE }).where("id", "=", job.id).execute();
  } catch (error) {
    throw sqlFault(error);
  }
}
