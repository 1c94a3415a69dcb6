import { describe, expect, it, vi } from "vitest";
import { createWeather } from "./weather.ts";

describe("weather", () => {
  it("asks for pauses that double up to a limit, and begins anew after the first batch that passed", () => {
    const pauses: number[] = [];
    const weather = createWeather({
      random: () => 0.5,
      pause: (ms) => {
        pauses.push(ms);
        return Promise.resolve();
      },
    });
    for (let batch = 0; batch < 8; batch += 1) weather.bad();
    weather.good();
    weather.bad();
    expect(pauses).toEqual([75, 150, 300, 600, 1_200, 2_400, 3_750, 3_750, 75]);
  });

  it("is told once a second at most, also when it was good in between", () => {
    let nowMs = 5_000;
    const weather = createWeather({ random: Math.random, pause: () => Promise.resolve(), nowMs: () => nowMs });
    const told = [0, 75, 150, 700, 80, 999].map((passedMs) => {
      nowMs += passedMs;
      weather.good();
      return weather.bad();
    });
    expect(told).toEqual([true, false, false, false, true, false]);
  });

  it("is calm when the pause is over, and not before", async () => {
    const over = Promise.withResolvers<void>();
    const weather = createWeather({ random: Math.random, pause: () => over.promise });
    await weather.calm();
    weather.bad();
    const calm = vi.fn<() => void>();
    void weather.calm().then(calm);
    await new Promise(setImmediate);
    expect(calm).not.toHaveBeenCalled();
    over.resolve();
    await weather.calm();
    expect(calm).toHaveBeenCalledOnce();
  });
});
