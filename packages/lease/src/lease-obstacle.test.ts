import { describe, expect, it } from "vitest";
import { createLeaseObstacle } from "./lease-obstacle.ts";

describe("lease obstacle", () => {
  it("is a database that has been silent for longer than it may, counted from before the question", async () => {
    let nowMs = 1_000;
    const clock = { now: () => Temporal.Instant.fromEpochMilliseconds(0), monotonicMs: () => nowMs };
    const obstacle = createLeaseObstacle(clock, 2_000);
    expect(obstacle.why()).toBeUndefined();
    nowMs = 3_001;
    expect(obstacle.why()).toBe("the database has not answered for 2001 ms");

    const answer = Promise.withResolvers<string>();
    const asking = obstacle.noteAnswer(() => answer.promise);
    nowMs = 4_000;
    answer.resolve("late");
    expect(await asking).toBe("late");
    expect(obstacle.why()).toBeUndefined();
    nowMs = 5_002;
    expect(obstacle.why()).toBe("the database has not answered for 2001 ms");
  });

  it("is not removed by a question that fails, whose failure is passed on", async () => {
    let nowMs = 0;
    const clock = { now: () => Temporal.Instant.fromEpochMilliseconds(0), monotonicMs: () => nowMs };
    const obstacle = createLeaseObstacle(clock, 2_000);
    nowMs = 2_500;
    await expect(obstacle.noteAnswer(() => Promise.reject(new Error("away")))).rejects.toThrow("away");
    expect(obstacle.why()).toBe("the database has not answered for 2500 ms");
  });

  it("names the server that is silent", () => {
    let nowMs = 0;
    const clock = { now: () => Temporal.Instant.fromEpochMilliseconds(0), monotonicMs: () => nowMs };
    const obstacle = createLeaseObstacle(clock, 1_000, "the queue's store");
    nowMs = 1_500;
    expect(obstacle.why()).toBe("the queue's store has not answered for 1500 ms");
  });
});
