/** What can happen to one of three workers in the middle of a night, and what must have become of it in the end. */

import { setTimeout as delay } from "node:timers/promises";
import type { MutatedBuild } from "@nightwriter/testkit";
import { expect } from "vitest";
import { holdWrites } from "../worker/night.ts";
import {
  appliedAfterMs,
  databaseNow,
  expectNightInOrder,
  expectNoOverlap,
  type Fleet,
  type FleetOptions,
  type FleetWorker,
  inHand,
  nowNs,
  partitionCount,
  planFleet,
  type StartOptions,
  takenOver,
  waitUntil,
} from "./fleet.ts";
import { troubleMessage } from "./planted.ts";

/** How long a dead worker's queue jobs stay its own, as packages/queue promises. */
const queueMs = 10_000 + 5_000;

export interface Trio extends AsyncDisposable {
  readonly fleet: Fleet;
  readonly victim: FleetWorker;
  readonly others: readonly [FleetWorker, FleetWorker];
  /** Lets statements go on, which have been held back until now. */
  readonly release: () => Promise<void>;
}

/** Three workers that share the partitions, and a night of which everything is enqueued and nothing may be written yet. */
async function startTrio(options: FleetOptions & { readonly victim?: StartOptions }): Promise<Trio> {
  await using stack = new AsyncDisposableStack();
  const fleet = stack.use(await planFleet(options));
  const { leasesInQueue = false } = options.victim ?? {};
  const [victim, left, right] = await Promise.all([
    fleet.start("victim", options.victim),
    fleet.start("left", { leasesInQueue }),
    fleet.start("right", { leasesInQueue }),
  ]);
  await fleet.shared([victim, left, right]);
  const release = await holdWrites(fleet.night);
  stack.defer(release);
  await fleet.night.enqueue();
  const started = stack.move();
  return { fleet, victim, others: [left, right], release, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

/** SIGKILL while statements of its are under way. */
export async function killVictim(options: FleetOptions): Promise<void> {
  await using trio = await startTrio(options);
  const { fleet, victim, others } = trio;
  const held = victim.held();
  for (const partition of held) await waitForWorkInHand(fleet, [partition]);
  const keys = await waitForWorkInHand(fleet, held);
  const killedAt = await databaseNow(fleet.night);
  const killedNs = nowNs();
  victim.app.signal("SIGKILL");
  await trio.release();

  const delays = await takenOver(held, others, killedNs);
  expect(Math.max(...delays)).toBeLessThanOrEqual(options.leaseMs + 2_000);
  const appliedMs = await appliedAfterMs(fleet.night, keys, killedAt);
  expect(appliedMs).toBeLessThanOrEqual(queueMs + 2_000);
  tell("killed", { takenOverMs: Math.max(...delays), inHand: keys.length, appliedMs });
  await fleet.shared(others);
  await expectNightInOrder(fleet);
  expectNoOverlap(others);
}

export interface Refusal {
  /** The victim's lines `fenced`, by partition. */
  readonly fenced: readonly number[];
  /** The partition whose batch was on its way. */
  readonly partition: number;
  readonly refusedWrites: bigint;
}

/**
 * The victim stops at the named point for 1.5 leases: frozen, until it gets SIGCONT, or because its event loop stands still. By
 * then others have all of its partitions. Returns once it has its share again.
 */
export async function stopVictim(
  options: FleetOptions & { readonly build: MutatedBuild; readonly frozen: boolean },
  judge: (trio: Trio, refusal: Refusal) => Promise<void>,
): Promise<void> {
  const { leaseMs, build, frozen } = options;
  await using trio = await startTrio({ ...options, victim: { build } });
  const { fleet, victim, others } = trio;
  const held = await beginNight(trio);
  victim.app.signal("SIGUSR2");
  const stopped = await victim.app.waitForLog(({ msg }) => msg === troubleMessage, 60_000);
  const stoppedNs = BigInt(String(stopped["atNs"]));
  const over = delay(1.5 * leaseMs);
  const delays = await takenOver(held, others, stoppedNs);
  expect(Math.max(...delays)).toBeLessThanOrEqual(leaseMs + 2_000);
  await over;
  if (frozen) victim.app.signal("SIGCONT");

  await waitUntil(() => expect(leftOf(victim, held, stoppedNs)).toEqual(held));
  await waitUntil(() =>
    expect(victim.consumptions().filter(({ beganNs }) => beganNs > stoppedNs).length).toBeGreaterThan(0),
  );
  await fleet.shared([victim, ...others]);
  await waitUntil(() => expect(victim.said("summary").length).toBeGreaterThan(0));
  const { refused_writes } = await fleet.night.db
    .selectFrom("nightwriter.worker")
    .select("refused_writes")
    .where("name", "=", victim.name)
    .executeTakeFirstOrThrow();
  tell(frozen ? "frozen" : "blocked", { takenOverMs: Math.max(...delays), refusedWrites: refused_writes });
  await judge(trio, {
    fenced: victim.said("fenced").map((line) => Number(line["partition"])),
    partition: Number(stopped["partition"]),
    refusedWrites: refused_writes,
  });
}

/** Of these partitions, those whose consumption from before the instant is over. */
function leftOf(worker: FleetWorker, partitions: readonly number[], beforeNs: bigint): number[] {
  const left = worker.consumptions().filter(({ beganNs, leftNs }) => beganNs < beforeNs && leftNs !== undefined);
  return partitions.filter((each) => left.some(({ partition }) => partition === each));
}

/** One of the victim's servers accepts and says nothing more, while the other answers. */
export async function hideServer(options: FleetOptions & { readonly server: "database" | "queue" }): Promise<void> {
  const { leaseMs, server } = options;
  await using trio = await startTrio({ ...options, victim: { leasesInQueue: true } });
  const { fleet, victim, others } = trio;
  const held = await beginNight(trio);
  const hiddenNs = nowNs();
  victim[server].hold();
  const delays = await takenOver(held, others, hiddenNs);
  expect(Math.max(...delays)).toBeLessThanOrEqual(leaseMs + 4_000);
  await fleet.shared(others);
  victim[server].resume();
  await fleet.shared([victim, ...others]);
  tell(`${server} half open`, { takenOverMs: Math.max(...delays) });
  await expectNightInOrder(fleet);
  expectNoOverlap([victim, ...others]);
}

/** The lease store answers nobody for three leases; the queue and Postgres do. */
export async function hideLeaseStore(options: FleetOptions): Promise<void> {
  const { leaseMs } = options;
  await using trio = await startTrio(options);
  const { fleet, victim, others } = trio;
  const workers = [victim, ...others];
  await beginNight(trio);
  const said = (msg: string): number[] => workers.map((worker) => worker.said(msg).length);
  const once = said("lease store away").map((count) => count + 1);
  const awayNs = nowNs();
  process.kill(fleet.leaseRedis.pid, "SIGSTOP");
  try {
    await waitUntil(() => expect(workers.flatMap((worker) => worker.held())).toEqual([]));
    await delay(3 * leaseMs - Number(nowNs() - awayNs) / 1e6);
    expect(workers.flatMap((worker) => worker.held())).toEqual([]);
    expect(said("lease store away")).toEqual(once);
  } finally {
    process.kill(fleet.leaseRedis.pid, "SIGCONT");
  }
  const stopped = workers
    .flatMap((worker) => worker.consumptions())
    .map(({ leftNs = awayNs }) => Number(leftNs - awayNs) / 1e6)
    .filter((ms) => ms > 0);
  expect(stopped).toHaveLength(partitionCount);
  expect(Math.max(...stopped)).toBeLessThanOrEqual(leaseMs);
  await fleet.shared(workers);
  // A busy machine may lose sight of the store once more after it has woken.
  for (const [index, count] of said("lease store back").entries())
    expect(count).toBeGreaterThanOrEqual(once[index] ?? 0);
  tell("lease store away", { lastStoppedMs: Math.max(...stopped) });
  await expectNightInOrder(fleet);
  expectNoOverlap(workers);
}

/** Lets the night go on, with all partitions held as they should be; those of the victim, who has something in hand. */
async function beginNight({ fleet, victim, others, release }: Trio): Promise<number[]> {
  await release();
  await fleet.shared([victim, ...others]);
  await waitForWorkInHand(fleet, victim.held());
  return victim.held();
}

/** Waits until something is in hand in these partitions; the keys of all that is. */
async function waitForWorkInHand(fleet: Fleet, partitions: readonly number[]): Promise<string[]> {
  let keys: string[] = [];
  await waitUntil(async () => {
    keys = await inHand(fleet, partitions);
    expect(keys).not.toEqual([]);
  });
  return keys;
}

/** What was seen, for whoever reads the log of a run. */
function tell(what: string, seen: Readonly<Record<string, number | bigint>>): void {
  const parts = Object.entries(seen).map(
    ([name, value]) => `${name} ${typeof value === "number" ? Math.round(value) : value}`,
  );
  process.stderr.write(`fleet, ${what}: ${parts.join(", ")}\n`);
}
