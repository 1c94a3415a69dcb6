import { bothQueues } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { expectExact, holdWrites, planNight, until, waitingStatements, writers } from "./night.ts";

describe.each(bothQueues)("a night with its queue in %s", { timeout: 120_000 }, (store) => {
  it("is finished by the other worker when one of two is killed in the middle of its statements", async () => {
    await using night = await planNight({ store, restaurants: 300 });
    const settings = { WORKER_CONCURRENCY: "8", BATCH_SIZE: "8", LOCK_TIMEOUT_MS: "30000" };
    const [victim] = await Promise.all(["victim", "survivor"].map((name) => night.startWorker(name, settings)));
    const firstHalf = night.keys.slice(0, 150);
    await night.enqueue({ keys: firstHalf });
    await night.finished(firstHalf.length);
    expect(await writers(night)).toEqual(["survivor", "victim"]);

    const release = await holdWrites(night);
    await night.enqueue();
    await until(async () => {
      expect(await waitingStatements(night, "victim")).toBeGreaterThan(0);
      expect(await waitingStatements(night, "survivor")).toBeGreaterThan(0);
    });
    victim?.signal("SIGKILL");
    expect(await victim?.exited).toMatchObject({ signal: "SIGKILL" });
    await release();

    await night.finished(300, 45_000);
    await expectExact(night);
  });
});
