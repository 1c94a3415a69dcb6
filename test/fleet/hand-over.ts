/** A fleet that grows and shrinks in the middle of a night, with nothing going wrong. */

import type { QueueStore } from "@nightwriter/testkit";
import { expect } from "vitest";
import { type Night, planNight } from "../worker/night.ts";
import {
  type Consumption,
  expectNightInOrder,
  expectNoOverlap,
  expectShared,
  inHand,
  nowNs,
  type Observed,
  observe,
  partitionCount,
  slowDown,
  waitUntil,
} from "./fleet.ts";

/** Where queue and leases are. Leases: where they are by default, unless said otherwise. */
export interface Stores {
  readonly queue: QueueStore;
  readonly leases?: "database" | "none";
}

export interface GrowthOptions {
  readonly stores: Stores;
  readonly restaurants: number;
  /** How long the database takes for each entry, so that a hand-over meets work in hand. */
  readonly entryMs: number;
  readonly settings: Readonly<Record<string, string>>;
}

/** A partition that one worker left, and another consumed after it. */
export interface HandOver {
  readonly partition: number;
  readonly from: string;
  readonly to: string;
  readonly why: string | undefined;
  /** From "partition left" to "partition consumed". */
  readonly ms: number;
}

export interface Growth {
  readonly handOvers: readonly HandOver[];
  /** For each partition of those who got SIGTERM, from the signal to "partition consumed" at somebody else's. */
  readonly afterSigtermMs: readonly number[];
}

export interface SeededNight extends AsyncDisposable {
  readonly night: Night;
  readonly start: (name: string) => Promise<Observed>;
}

/** Plans a night whose workers take a while, and enqueues nothing yet. */
export async function planSlowNight({ stores, restaurants, entryMs, settings }: GrowthOptions): Promise<SeededNight> {
  await using stack = new AsyncDisposableStack();
  const night = stack.use(await planNight({ store: stores.queue, restaurants }));
  if (entryMs > 0) await slowDown(night, entryMs);
  const leaseUrl = stores.leases === "database" ? night.databaseUrl : (stores.leases ?? "");
  const resources = stack.move();
  return {
    night,
    start: async (name) =>
      observe(name, await night.startWorker(name, { LEASE_URL: leaseUrl, LOG_LEVEL: "info", ...settings })),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/**
 * One worker, then four, then two, each change while work is in hand, and the night goes on. Proves fair shares after each
 * change, that nobody consumed a partition beside another, that those who left exited with 0, and that every item was applied
 * exactly once.
 */
export async function growAndShrink(options: GrowthOptions): Promise<Growth> {
  await using seeded = await planSlowNight(options);
  const { night, start } = seeded;
  const third = Math.ceil(night.keys.length / 3);
  const pieces = [0, 1, 2].map((piece) => night.keys.slice(piece * third, (piece + 1) * third));

  const first = await start("first");
  await shared([first]);
  await night.enqueue({ keys: pieces[0] ?? [] });
  await workInHand(night);
  const [second, third_, fourth] = await Promise.all(["second", "third", "fourth"].map(start));
  const all = [first, second, third_, fourth].filter((worker) => worker !== undefined);
  await night.enqueue({ keys: pieces[1] ?? [] });
  await shared(all);

  await night.enqueue({ keys: pieces[2] ?? [] });
  await workInHand(night);
  const [leaving, staying] = [all.slice(0, 2), all.slice(2)];
  const given = leaving.flatMap((worker) => worker.held());
  const signalledNs = nowNs();
  for (const { app } of leaving) app.signal("SIGTERM");
  for (const { app } of leaving) expect(await app.exited).toEqual({ code: 0, signal: null });
  await shared(staying);

  await expectNightInOrder({ night });
  expectNoOverlap(all);
  await expectWrittenDown(night, leaving);
  const handOvers = handOversOf(all);
  // Nobody comes to four without 12 that are given away, nor from four to two without 8.
  expect(handOvers.length).toBeGreaterThanOrEqual(20);
  expect(new Set(handOvers.map(({ why }) => why))).toEqual(new Set(["handed over"]));
  const taken = staying.flatMap((worker) => worker.consumptions()).filter(({ beganNs }) => beganNs > signalledNs);
  // The first to take each: those that stay may then still share anew what one of them has taken.
  const afterSigtermMs = given.map((partition) => {
    const takers = taken.filter((each) => each.partition === partition);
    return Math.min(...takers.map(({ beganNs }) => Number(beganNs - signalledNs) / 1e6));
  });
  return { handOvers, afterSigtermMs };
}

/** The table of workers says who has left, and has a last entry for every partition. */
async function expectWrittenDown({ db }: Night, left: readonly Observed[]): Promise<void> {
  await waitUntil(async () => {
    const rows = await db.selectFrom("nightwriter.worker").select(["name", "left_at", "last_entries"]).execute();
    const gone = rows.filter(({ left_at }) => left_at !== null).map(({ name }) => name);
    expect(gone.toSorted()).toEqual(left.map(({ name }) => name).toSorted());
    expect(new Set(rows.flatMap(({ last_entries }) => Object.keys(last_entries))).size).toBe(partitionCount);
  });
}

export async function shared(workers: readonly Observed[]): Promise<void> {
  await waitUntil(() => expectShared(workers));
}

async function workInHand(night: Night): Promise<void> {
  const partitions = Array.from({ length: partitionCount }, (_, partition) => partition);
  await waitUntil(async () => expect((await inHand({ night }, partitions)).length).toBeGreaterThan(0));
}

/** The hand-overs between these workers, in the order of their terms. */
export function handOversOf(workers: readonly Observed[]): HandOver[] {
  const terms = workers
    .flatMap((worker) => worker.consumptions())
    .toSorted((one, other) => one.fencingToken - other.fencingToken);
  return Array.from({ length: partitionCount }, (_, partition) => partition)
    .map((partition) => terms.filter((term) => term.partition === partition))
    .flatMap((own) => own.slice(1).map((term, index) => handOver(own[index], term)));
}

function handOver(before: Consumption | undefined, after: Consumption): HandOver {
  if (before?.leftNs === undefined) throw new Error(`partition ${after.partition}: was never left`);
  const ms = Number(after.beganNs - before.leftNs) / 1e6;
  return { partition: after.partition, from: before.worker, to: after.worker, why: before.why, ms };
}

/** What was seen, for whoever reads the log of a run. */
export function tell(what: string, { handOvers, afterSigtermMs }: Growth): void {
  const ms = handOvers.map((each) => each.ms).toSorted((one, other) => one - other);
  const [median, longest] = [ms[Math.floor(ms.length / 2)] ?? 0, ms.at(-1) ?? 0].map(Math.round);
  const last = Math.round(Math.max(...afterSigtermMs));
  process.stderr.write(
    `fleet, ${what}: ${ms.length} hand-overs, median ${median} ms, longest ${longest} ms; last taken ${last} ms after SIGTERM\n`,
  );
}
