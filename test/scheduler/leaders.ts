/** Schedulers of which one leads, and how their logs tell which. */
import type { App, LogLine } from "@nightwriter/testkit";
import { expect } from "vitest";
import { type DueNight, enqueued } from "./fixture.ts";

export const leaseMs = 5_000;
export const patienceMs = 60_000;

/** Schedulers whose log can be asked who leads. */
export async function startThree(night: DueNight, environment: Readonly<Record<string, string>> = {}): Promise<App[]> {
  const lease = { LEASE_MS: String(leaseMs), ...environment };
  return Promise.all(["one", "two", "three"].map((name) => night.start({ ...lease, WORKER_NAME: name })));
}

export const lines = ({ log }: App, wanted: string): LogLine[] => log.filter(({ msg }) => msg === wanted);

/** Leads by its own account: has begun more often than it has ended. */
export const leads = (app: App): boolean => lines(app, "leading").length > lines(app, "leading no more").length;

/** Waits until one of them leads and each of the others has seen that it does; returns it first. */
export async function settled(schedulers: readonly App[]): Promise<[leader: App, ...others: App[]]> {
  const term = (app: App, msg: string): unknown => lines(app, msg).at(-1)?.["nonce"];
  const agreed = (): boolean => {
    const [leader, ...more] = schedulers.filter(leads);
    if (leader === undefined || more.length > 0) return false;
    return schedulers.every((app) => app === leader || term(app, "standing by") === term(leader, "leading"));
  };
  await expect.poll(agreed, { timeout: patienceMs }).toBe(true);
  const [leader, ...others] = schedulers.toSorted((one, other) => Number(leads(other)) - Number(leads(one)));
  if (leader === undefined) throw new Error("there are schedulers");
  return [leader, ...others];
}

/** Waits until one of them begins to lead; returns it, and how long after `sinceMs` that was, by the machine's clock. */
export async function successor(schedulers: readonly App[], sinceMs: number): Promise<{ app: App; afterMs: number }> {
  const begun = schedulers.map(async (app) => {
    const line = await app.waitForLog(({ msg, time }) => msg === "leading" && millis(time) > sinceMs, patienceMs);
    return { app, afterMs: millis(line["time"]) - sinceMs };
  });
  return Promise.any(begun);
}

function millis(time: unknown): number {
  return Date.parse(String(time));
}

/** Waits until its duties put back what the queue has forgotten. */
export async function doesDuties(night: DueNight, leader: App): Promise<void> {
  const before = lines(leader, "queue mended").length;
  for (const { bullQueue } of night.partitions) await bullQueue.obliterate({ force: true });
  await leader.waitForLog(() => lines(leader, "queue mended").length > before, patienceMs);
  await enqueued(night);
}
