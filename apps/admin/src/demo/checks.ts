/** What must be true at the end, each compared with what was sold and not with what the database says of itself. */
import { type VerifyReport, verify } from "@nightwriter/ledger";
import { databaseNow } from "@nightwriter/schedule";
import type { Installation } from "../installation.ts";
import { formatCount, plural } from "../output/format.ts";
import { changedCount, totals } from "./ledger-facts.ts";
import type { Played } from "./play.ts";
import type { Sold } from "./record-sales.ts";

export interface Check {
  readonly name: string;
  readonly passed: boolean;
  /** What was found, in one line. */
  readonly finding: string;
}

/** Every check, in the order in which things happened. */
export async function checkPlayed({ database, job }: Installation, played: Played): Promise<Check[]> {
  const changed = await changedCount(database, played.rerun.run.id);
  const found = await totals(database, job);
  const report = await verify(database, job, { now: await databaseNow(database) });
  return [
    checkNight(played),
    checkStruck(played),
    checkLate(played),
    checkRerun(played, changed),
    checkVerified(report),
    checkTotals(found, played),
  ];
}

function checkNight({ night, sold }: Played): Check {
  const { applied, total, deltaMinor } = night;
  const restaurants = sold.minorByRestaurant.size;
  const passed = applied === total && total === restaurants && deltaMinor === sumOf(sold);
  const finding = `${formatCount(applied)} of ${plural(restaurants, "item")} applied, ${passed ? "adding exactly what was sold" : `adding ${deltaMinor} of ${sumOf(sold)} minor units sold`}`;
  return { name: "night", passed, finding };
}

function checkStruck({ struck }: Played): Check {
  if (struck === undefined)
    return { name: "kill", passed: false, finding: "the night went by before a worker could be killed" };
  const each = Array.from(
    struck.applied,
    ([worker, count]) => `${worker} had applied ${formatCount(count)}`,
  ).toSorted();
  return { name: "kill", passed: true, finding: `${struck.worker} got SIGKILL when ${each.join(", ")}` };
}

function checkLate({ late, dueAfterLate }: Played): Check {
  const finding = `${plural(late.sales, "sale")} recorded while ${plural(dueAfterLate, "item was", "items were")} still due`;
  return { name: "late sales", passed: late.sales > 0 && dueAfterLate > 0, finding };
}

function checkRerun({ rerun, late }: Played, changed: number): Check {
  const { applied, total, deltaMinor } = rerun;
  const passed = applied === total && changed === late.minorByRestaurant.size && deltaMinor === sumOf(late);
  const finding = `${formatCount(changed)} of ${plural(applied, "item")} changed a total, ${passed ? "by exactly the late sales" : `by ${deltaMinor} of ${sumOf(late)} minor units sold late`}`;
  return { name: "re-run", passed, finding };
}

/** The demo leaves nothing to be done, so nothing may be outstanding either. */
function checkVerified({ clean, rules, outstandingSums, entryCount }: VerifyReport): Check {
  const passed = clean && outstandingSums.length === 0;
  const broken = rules.filter(({ status }) => status === "violated").map(({ rule }) => rule);
  const verdict = clean ? `all ${plural(rules.length, "rule")} hold` : `violated: ${broken.join(", ")}`;
  const outstanding = outstandingSums.map(({ reason, pairCount }) => `, ${formatCount(pairCount)} ${reason}`).join("");
  return { name: "verify", passed, finding: `${verdict} over ${plural(entryCount, "entry", "entries")}${outstanding}` };
}

/** Whether each restaurant's total is exactly what it sold, late sales included, and nobody else has one. */
function checkTotals(found: ReadonlyMap<string, bigint>, { sold, late }: Played): Check {
  const expected = addUp([sold, late]);
  const names = new Set([...found.keys(), ...expected.keys()]);
  const wrong = [...names].filter((name) => found.get(name) !== expected.get(name));
  const [first] = wrong;
  const finding =
    first === undefined
      ? `${formatCount(names.size)} of ${formatCount(names.size)} are exactly what was sold`
      : `${formatCount(wrong.length)} are wrong: ${first} has ${found.get(first) ?? "none"}, sold ${expected.get(first) ?? "nothing"}`;
  return { name: "totals", passed: first === undefined, finding };
}

/** What each restaurant sold in all of these together, in minor units. */
function addUp(sold: readonly Sold[]): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const { minorByRestaurant } of sold) {
    for (const [restaurant, minor] of minorByRestaurant) {
      sums.set(restaurant, (sums.get(restaurant) ?? 0n) + minor);
    }
  }
  return sums;
}

/** What was sold, in minor units whatever the currencies. */
function sumOf({ minorByRestaurant }: Sold): bigint {
  return minorByRestaurant.values().reduce((sum, minor) => sum + minor, 0n);
}
