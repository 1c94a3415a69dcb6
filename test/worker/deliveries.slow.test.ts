import { bothQueues } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { enqueueHeld, expectExact, planNight, until, writers } from "./night.ts";

describe.each(bothQueues)("a night with its queue in %s", { timeout: 120_000 }, (store) => {
  it("ends with exact totals when two workers get every job three times", async () => {
    await using night = await planNight({ store, restaurants: 300 });
    const small = { WORKER_CONCURRENCY: "10", BATCH_SIZE: "8", LOCK_TIMEOUT_MS: "30000" };
    const names = ["left", "right"];
    await Promise.all(names.map((name) => night.startWorker(name, small)));

    const release = await enqueueHeld(night, names, { generations: 3 });
    await release();
    await night.finished(300);

    await expectExact(night);
    expect(await writers(night)).toEqual(names);
  });

  it("goes on under the new terms when terms are raised again and again in the middle of it", async () => {
    await using night = await planNight({ store, restaurants: 300 });
    const worker = await night.startWorker("fenced", { WORKER_CONCURRENCY: "10", BATCH_SIZE: "4" });
    const raise = (): Promise<unknown> =>
      night.db
        .updateTable("nightwriter.partition_term")
        .set((eb) => ({ fencing_token: eb("fencing_token", "+", 1n), nonce: crypto.randomUUID() }))
        .execute();

    // The worker has read its terms: however fast it is, each partition's first batch is fenced.
    await raise();
    await night.enqueue();
    let raised = 0;
    await until(async () => {
      if (raised < 10) await raise();
      raised += 1;
      expect(await night.applied()).toBe(300);
    });

    await night.finished(300);
    await expectExact(night);
    await worker.waitForLog(({ msg }) => msg === "fenced: reading the term again");
  });
});
