/**
 * Lines that look like sales which were recorded before: the same restaurant, business date, amount and, where it is known, local time, more
 * than half of the smaller side of a restaurant's date. An export that was downloaded again is like that, whatever its order.
 */
import type { Session } from "@nightwriter/database";
import type { Acceptance } from "../acceptances.ts";
import { doubt } from "../doubt.ts";
import { isAlike, type Paired, type Pairing, pairLines } from "./pair-lines.ts";

/** Where lines are looked for, and on which dates. */
export interface OverlapOptions {
  readonly name: string;
  readonly dates: readonly string[];
  readonly accepted: ReadonlySet<Acceptance>;
  readonly pairing: Pairing;
}

/** Throws ImportFault `in_doubt` for lines that look like recorded sales. */
export async function assertNoneAlike(
  session: Session,
  { name, dates, accepted, pairing }: OverlapOptions,
): Promise<void> {
  if (accepted.has("allow-overlap")) return;
  const alike: Paired[] = [];
  for (const date of dates) alike.push(...(await pairLines(session, date, pairing)).filter(isAlike));
  if (alike.length === 0) return;
  doubt(accepted, ["only-new", "allow-overlap"], {
    text: `${name}: ${describePairs(alike)} look like sales that were recorded before`,
    instead: ["if the export has an id for each sale, say --id-column"],
    details: { file: name, lines: alike.reduce((sum, { paired }) => sum + paired, 0), dates: alike.length },
  });
}

const told = 3;

/** `12 of 14 lines (soho 2024-01-05: 5 of 6; …)`. */
export function describePairs(all: readonly Paired[]): string {
  const sum = (of: (each: Paired) => number): number => all.reduce((before, each) => before + of(each), 0);
  const shown = all
    .slice(0, told)
    .map(({ restaurantId, businessDate, paired, lines }) => `${restaurantId} ${businessDate}: ${paired} of ${lines}`);
  const more = all.length > told ? [`${all.length - told} more`] : [];
  return `${sum(({ paired }) => paired)} of ${sum(({ lines }) => lines)} lines (${[...shown, ...more].join("; ")})`;
}
