import { bothQueues } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { enqueueHeld, expectExact, planNight } from "./night.ts";

const settings = { WORKER_CONCURRENCY: "5", BATCH_SIZE: "5", LOCK_TIMEOUT_MS: "30000" };

describe.each(bothQueues)("a worker with its queue in %s", { timeout: 120_000 }, (store) => {
  it("finishes what it has in hand at SIGTERM, leaves the rest in the queue, and exits with 0", async () => {
    await using night = await planNight({ store, restaurants: 200 });
    const worker = await night.startWorker("leaving", settings);
    const release = await enqueueHeld(night, ["leaving"]);
    worker.signal("SIGTERM");
    await worker.waitForLog(({ msg }) => msg?.startsWith("stopping") === true);
    await release();

    expect(await worker.exited).toEqual({ code: 0, signal: null });
    const counts = await Promise.all(night.partitions.map((queue) => queue.counts()));
    const sum = (state: "active" | "waiting" | "delayed" | "failed"): number =>
      counts.reduce((total, each) => total + each[state], 0);
    expect({ active: sum("active"), failed: sum("failed") }).toEqual({ active: 0, failed: 0 });
    const applied = await night.applied();
    expect(applied).toBeGreaterThan(0);
    expect(sum("waiting") + sum("delayed")).toBe(200 - applied);

    await night.startWorker("successor", settings);
    await night.finished(200);
    await expectExact(night);
  });

  it("leaves at once at a second signal, and another worker gets what it had in hand", async () => {
    await using night = await planNight({ store, restaurants: 60 });
    const worker = await night.startWorker("hurried", settings);
    const release = await enqueueHeld(night, ["hurried"]);
    worker.signal("SIGTERM");
    await worker.waitForLog(({ msg }) => msg?.startsWith("stopping") === true);
    worker.signal("SIGTERM");
    expect(await worker.exited).toEqual({ code: 143, signal: null });
    await release();

    await night.startWorker("successor", settings);
    await night.finished(60, 45_000);
    await expectExact(night);
  });
});
