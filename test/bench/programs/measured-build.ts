/**
 * One build, measured by its own benchmark's modules: a process that is asked for one figure after the other.
 *
 * It runs from today's checkout and imports everything else from the root of the build, so that an earlier one is driven by the
 * same lines as today's. A line of standard input names a figure, a line of standard output answers it.
 */
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { invariant } from "@nightwriter/core";
import type * as LedgerPackage from "@nightwriter/ledger";
import type * as RunPackage from "@nightwriter/run";
import type * as Consumers from "../consumers.ts";
import type * as Batches from "../guarded-batches.ts";
import type * as Ledgers from "../ledger.ts";
import type * as NightQueues from "../night-queues.ts";
import type { Scale } from "../scale.ts";
import type * as SetBased from "../set-based-write.ts";

export interface MeasuredBuild {
  readonly root: string;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  /** Of its queues and leases: no other build's. */
  readonly prefix: string;
  /** Nights that the database has had already. */
  readonly daysUsed: number;
  readonly scale: Pick<Scale, "keyCount" | "salesPerKey">;
}

/** What one can be asked for, in units a second; `history` makes a night without measuring it, `settle` tidies the database up. */
export type Asked = "restaurants" | "history" | "settle" | "write" | "planning" | "night" | "verify";

export interface Answered {
  readonly asked: Asked;
  /** Items or entries a second; 0 for what is not measured. */
  readonly rate: number;
}

const build = JSON.parse(process.env["MEASURED_BUILD"] ?? "") as MeasuredBuild;

async function load<Module>(path: string): Promise<Module> {
  return (await import(pathToFileURL(`${build.root}/${path}`).href)) as Module;
}

const { addRestaurants, addSales, finishNight, openLedger, planNight } =
  await load<typeof Ledgers>("test/bench/ledger.ts");
const { applyBatches, batchesOf } = await load<typeof Batches>("test/bench/guarded-batches.ts");
const { setBasedWrite } = await load<typeof SetBased>("test/bench/set-based-write.ts");
const { openNightQueues } = await load<typeof NightQueues>("test/bench/night-queues.ts");
const { startWorker } = await load<typeof Consumers>("test/bench/consumers.ts");
const { ensureNightlyRun } = await load<typeof RunPackage>("packages/run/src/index.ts");
const { verify } = await load<typeof LedgerPackage>("packages/ledger/src/index.ts");

const { scale } = build;
await using ledger = await openLedger(build.databaseUrl, build.daysUsed);

async function historyNight(): Promise<number> {
  const night = await planNight(ledger, scale);
  await setBasedWrite(ledger, night);
  await finishNight(ledger, night);
  return 0;
}

async function write(): Promise<number> {
  const night = await planNight(ledger, scale);
  const rate = await applyBatches(ledger, await batchesOf(ledger, night));
  await finishNight(ledger, night);
  return rate;
}

async function planning(): Promise<number> {
  await using queues = await openNightQueues(ledger, build.redisUrl, `${build.prefix}_planned`);
  const businessDate = ledger.nextDate();
  await addSales(ledger, businessDate, scale);
  const startMs = performance.now();
  const { run } = await ensureNightlyRun(ledger.database, ledger.job, Temporal.PlainDate.from(businessDate));
  const night = { runId: run.id, businessDate, itemCount: scale.keyCount };
  const enqueued = await queues.enqueue(night);
  const rate = (enqueued * 1_000) / (performance.now() - startMs);
  invariant(enqueued === scale.keyCount, `night of ${scale.keyCount}: ${enqueued} were enqueued`);
  await setBasedWrite(ledger, night);
  await finishNight(ledger, night);
  await queues.clear();
  return rate;
}

async function consumedNight(): Promise<number> {
  await using queues = await openNightQueues(ledger, build.redisUrl, `${build.prefix}_night`);
  const night = await planNight(ledger, scale);
  await queues.pause();
  await queues.enqueue(night);
  const seconds = await consumed();
  await finishNight(ledger, night);
  await queues.clear();
  return night.itemCount / seconds;

  async function consumed(): Promise<number> {
    await using worker = await startWorker(queues, build.databaseUrl);
    return await queues.consumed(worker);
  }
}

async function verified(): Promise<number> {
  const startMs = performance.now();
  const report = await verify(ledger.database, ledger.job, { now: Temporal.Now.instant() });
  invariant(report.clean, "what is verified is clean");
  return (report.entryCount * 1_000) / (performance.now() - startMs);
}

async function answer(asked: Asked): Promise<number> {
  switch (asked) {
    case "restaurants":
      await addRestaurants(ledger, scale.keyCount);
      return 0;
    case "history":
      return historyNight();
    case "settle":
      await ledger.database.session(async (session) => session.query("vacuum analyze"));
      await ledger.database.session(async (session) => session.query("checkpoint"));
      return 0;
    case "write":
      return write();
    case "planning":
      return planning();
    case "night":
      return consumedNight();
    case "verify":
      return verified();
  }
}

const tell = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

tell({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const asked = line as Asked;
  tell({ asked, rate: await answer(asked) } satisfies Answered);
}
