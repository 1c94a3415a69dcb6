import { bothQueues } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { dueNight, endInOrder, enqueued } from "./fixture.ts";
import { doesDuties, leaseMs, lines, settled, startThree, successor } from "./leaders.ts";

describe.each(bothQueues)("schedulers with leases in %s", (store) => {
  it("let one lead, and another within lease + 2 s when it is killed, and at once when it is asked to end", async () => {
    await using night = await dueNight({ store, restaurants: 20 });
    const schedulers = await startThree(night);
    const [first, ...others] = await settled(schedulers);
    await enqueued(night);
    for (const other of others) expect(lines(other, "night planned")).toEqual([]);

    const killedAtMs = Date.now();
    first.signal("SIGKILL");
    const second = await successor(others, killedAtMs);
    expect(second.afterMs).toBeLessThan(leaseMs + 2_000);
    await doesDuties(night, second.app);

    const askedAtMs = Date.now();
    const ended = endInOrder(second.app);
    const [third] = others.filter((app) => app !== second.app);
    const { app, afterMs } = await successor(others, askedAtMs);
    expect(app).toBe(third);
    expect(afterMs).toBeLessThan(2_000);
    await ended;
    await doesDuties(night, app);
    await endInOrder(app);
    expect(await night.runs()).toMatchObject([{ total: 20, due: 20 }]);
  }, 180_000);
});
