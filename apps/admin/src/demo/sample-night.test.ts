import { describe, expect, it } from "vitest";
import { seededRandom } from "./random.ts";
import { lateSalesOf, restaurantsOf, type SampleOptions, salesOf, towns } from "./sample-night.ts";

const options: SampleOptions = {
  restaurants: 203,
  businessDate: Temporal.PlainDate.from("2026-03-28"),
  seed: "sample",
};

describe("seededRandom", () => {
  it("repeats its draws for the same seed and not for another", () => {
    const draws = (seed: string): number[] => {
      const random = seededRandom(seed);
      return Array.from({ length: 40 }, () => random.uniform());
    };
    expect(draws("a")).toEqual(draws("a"));
    expect(draws("a")).not.toEqual(draws("b"));
  });

  it("draws integers from one end to the other, both included", () => {
    const random = seededRandom("ends");
    const seen = new Set(Array.from({ length: 200 }, () => random.integer(3, 6)));
    expect(seen).toEqual(new Set([3, 4, 5, 6]));
  });
});

describe("restaurantsOf", () => {
  it("spreads as many restaurants as asked for over the towns, each in one", () => {
    const all = towns.flatMap((town) => restaurantsOf(town, options));
    expect(new Set(all).size).toBe(203);
  });
});

describe("salesOf", () => {
  it("is the same night for the same seed", () => {
    const [town] = towns;
    if (town === undefined) throw new Error("there are towns");
    expect([...salesOf(town, options)]).toEqual([...salesOf(town, options)]);
  });

  it.each(towns)("sells in $name on the business date only, reckoned to its cutoff $cutoff", (town) => {
    const cutoff = Temporal.PlainTime.from(town.cutoff);
    const dates = [...salesOf(town, options)].map(({ soldAt }) =>
      soldAt.subtract({ hours: cutoff.hour, minutes: cutoff.minute }).toPlainDate().toString(),
    );
    expect(new Set(dates)).toEqual(new Set(["2026-03-28"]));
  });

  it("has sales after midnight, refunds, and restaurants of very different size", () => {
    const all = towns.flatMap((town) => [...salesOf(town, options)]);
    const counts = Object.values(Object.groupBy(all, ({ restaurant }) => restaurant)).map((sales = []) => sales.length);
    expect(all.some(({ soldAt }) => soldAt.day === 29)).toBe(true);
    expect(all.some(({ amountMinor }) => amountMinor < 0n)).toBe(true);
    expect(Math.max(...counts) / Math.min(...counts)).toBeGreaterThan(10);
  });
});

describe("lateSalesOf", () => {
  it("is one sale for each restaurant that is named", () => {
    const [town] = towns;
    if (town === undefined) throw new Error("there are towns");
    const late = lateSalesOf(town, ["london-0001", "london-0006"], options);
    expect(late.map(({ restaurant }) => restaurant)).toEqual(["london-0001", "london-0006"]);
  });
});
