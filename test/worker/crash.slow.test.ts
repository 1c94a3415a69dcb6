import { bothQueues } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { enqueueHeld, expectExact, planNight, writers } from "./night.ts";

describe.each(bothQueues)("a night with its queue in %s", { timeout: 120_000 }, (store) => {
  it("is finished by the other worker when one of two is killed in the middle of its statements", async () => {
    await using night = await planNight({ store, restaurants: 300 });
    const settings = { WORKER_CONCURRENCY: "8", BATCH_SIZE: "8", LOCK_TIMEOUT_MS: "30000" };
    const names = ["victim", "survivor"];
    const [victim] = await Promise.all(names.map((name) => night.startWorker(name, settings)));
    const firstHalf = night.keys.slice(0, 150);
    const releaseFirst = await enqueueHeld(night, names, { keys: firstHalf });
    await releaseFirst();
    await night.finished(firstHalf.length);
    expect(await writers(night)).toEqual(["survivor", "victim"]);

    const release = await enqueueHeld(night, names);
    victim?.signal("SIGKILL");
    expect(await victim?.exited).toMatchObject({ signal: "SIGKILL" });
    await release();

    await night.finished(300, 45_000);
    await expectExact(night);
  });
});
