import { describe, expect, it } from "vitest";
import { startLoop } from "./loop.ts";

describe("startLoop", () => {
  it("does the work at once and again and again, never twice at a time", async () => {
    const third = Promise.withResolvers<void>();
    let [begun, atOnce, mostAtOnce] = [0, 0, 0];
    const loop = startLoop({
      everyMs: 1,
      random: () => 0.5,
      work: async () => {
        begun += 1;
        atOnce += 1;
        mostAtOnce = Math.max(mostAtOnce, atOnce);
        await new Promise(setImmediate);
        atOnce -= 1;
        if (begun === 3) third.resolve();
      },
    });
    expect(begun).toBe(1);
    await third.promise;
    await loop.stop();
    expect({ atOnce, mostAtOnce }).toEqual({ atOnce: 0, mostAtOnce: 1 });
  });

  it("waits on a stop for the work under way, and begins none after it", async () => {
    const work = Promise.withResolvers<void>();
    let begun = 0;
    const loop = startLoop({ everyMs: 0, random: () => 0, work: () => ((begun += 1), work.promise) });
    let stopped = false;
    const stopping = loop.stop().then(() => (stopped = true));
    await new Promise(setImmediate);
    expect(stopped).toBe(false);
    work.resolve();
    await stopping;
    expect(begun).toBe(1);
  });

  it("does not wait for the end of a pause on a stop", async () => {
    const done = Promise.withResolvers<void>();
    const loop = startLoop({ everyMs: 3_600_000, random: () => 0, work: async () => done.resolve() });
    await done.promise;
    await expect(loop.stop()).resolves.toBeUndefined();
  });
});
