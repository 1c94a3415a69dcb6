import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assignPartitions, rankWorkers } from "./assignment.ts";

const name = fc.stringMatching(/^[\w.-]{1,12}$/);
const fleet = fc.uniqueArray(name, { minLength: 1, maxLength: 20 });
const count = fc.integer({ min: 1, max: 128 });

function sizes(assignment: readonly string[], workers: readonly string[]): number[] {
  return workers.map((worker) => assignment.filter((each) => each === worker).length);
}

/** Partitions that moved although neither the one who had them left nor the one who has them joined. */
function movedBesides(stranger: string, before: readonly string[], after: readonly string[]): number {
  return before.filter((worker, partition) => {
    const now = after[partition];
    return worker !== now && worker !== stranger && now !== stranger;
  }).length;
}

describe("assignPartitions", () => {
  it("assigns every partition to one of the workers, and to none more than its fair share, or less", () => {
    fc.assert(
      fc.property(count, fleet, (partitions, workers) => {
        const assignment = assignPartitions("totals", partitions, workers);
        expect(assignment).toHaveLength(partitions);
        const shares = sizes(assignment, workers);
        expect(shares.reduce((sum, size) => sum + size, 0)).toBe(partitions);
        expect(Math.max(...shares)).toBe(Math.ceil(partitions / workers.length));
        expect(Math.min(...shares)).toBe(Math.floor(partitions / workers.length));
      }),
    );
  });

  it("answers the same whatever the order of the workers, and however often one is named", () => {
    fc.assert(
      fc.property(
        count,
        fleet.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))),
        (partitions, [one, other]) => {
          expect(assignPartitions("totals", partitions, [...other, ...one])).toEqual(
            assignPartitions("totals", partitions, one),
          );
        },
      ),
    );
  });

  it("answers what it answered on every machine before: a fleet of two builds agrees", () => {
    expect(assignPartitions("restaurant-totals", 8, ["left", "right", "third"])).toMatchInlineSnapshot(`
      [
        "left",
        "third",
        "left",
        "third",
        "right",
        "third",
        "right",
        "right",
      ]
    `);
  });

  it("assigns nothing when there is nobody", () => {
    expect(assignPartitions("totals", 16, [])).toEqual([]);
  });

  it("moves few partitions besides those of whoever joins or leaves", () => {
    const moved: number[] = [];
    fc.assert(
      fc.property(
        fc.integer({ min: 16, max: 128 }),
        fc.uniqueArray(name, { minLength: 2, maxLength: 20 }),
        (partitions, workers) => {
          const [stranger = "", ...others] = workers;
          const besides = movedBesides(
            stranger,
            assignPartitions("totals", partitions, others),
            assignPartitions("totals", partitions, workers),
          );
          moved.push(besides / partitions);
          expect(besides).toBeLessThan(partitions / 2);
        },
      ),
      { numRuns: 300 },
    );
    expect(moved.reduce((sum, share) => sum + share, 0) / moved.length).toBeLessThan(0.15);
  });
});

describe("rankWorkers", () => {
  it("lists every worker once, in an order that does not depend on who else there is", () => {
    fc.assert(
      fc.property(fc.nat({ max: 127 }), fleet, (partition, workers) => {
        const ranked = rankWorkers("totals", partition, workers);
        expect(ranked.toSorted()).toEqual([...workers].toSorted());
        const without = ranked[0] ?? "";
        expect(
          rankWorkers(
            "totals",
            partition,
            workers.filter((each) => each !== without),
          ),
        ).toEqual(ranked.slice(1));
      }),
    );
  });
});
