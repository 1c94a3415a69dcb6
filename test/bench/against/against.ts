/**
 * Today's build against an earlier one: each figure as a ratio, the two measured in turns on the same servers, each on a copy of the
 * same history that the earlier one made.
 */
import { Fault } from "@nightwriter/core";
import { type OlderBuild, olderBuild } from "@nightwriter/testkit/older-build";
import type { Pair } from "../figure.ts";
import { assertRoom, describeMachine, type Machine } from "../machine.ts";
import type { Scale } from "../scale.ts";
import { alternate } from "./alternate.ts";
import { type Interval, medianInterval, type Verdict, verdictOf } from "./interval.ts";
import { type ComparedFigure, openSides } from "./sides.ts";

export interface AgainstOptions {
  readonly revision: string;
  readonly figures: readonly ComparedFigure[];
  readonly scale: Scale;
  /** Pairs of each figure, at most. */
  readonly pairCount: number;
  readonly say: (line: string) => void;
}

export interface ComparedReport {
  readonly machine: Machine;
  readonly against: string;
  readonly scale: Scale["name"];
  readonly startedAt: Temporal.Instant;
  readonly figures: readonly Compared[];
}

export interface Compared extends Interval {
  readonly name: ComparedFigure;
  readonly verdict: Verdict;
  readonly pairs: readonly Pair[];
}

/** How long the pairs of one figure may take, in milliseconds. */
const figureLimitMs = 3_600_000;

/** Throws a Fault where the earlier build is not to be had, or either build cannot be measured. */
export async function benchAgainst(options: AgainstOptions): Promise<ComparedReport> {
  const { figures, pairCount, scale, say } = options;
  const startedAt = Temporal.Now.instant();
  const machine = describeMachine();
  await assertRoom(scale);
  const earlier = await getBuild(options.revision);
  await using sides = await openSides({ earlier, scale, say });
  const compared: Compared[] = [];
  for (const name of figures) {
    const onPair = (pair: number, soFar: Interval | undefined): void =>
      say(
        `${name}: pair ${pair} of at most ${pairCount}${soFar === undefined ? "" : `, so far ${intervalText(soFar)}`}`,
      );
    const [ours, theirs] = [() => sides.today(name), () => sides.earlier(name)];
    const pairs = await alternate({ ours, theirs, pairCount, limitMs: figureLimitMs, onPair });
    const interval = medianInterval(pairs.map(({ value }) => value));
    compared.push({ name, ...interval, verdict: verdictOf(interval), pairs });
  }
  const { revision: against } = options;
  return { machine: { ...machine, ...sides.servers }, against, scale: scale.name, startedAt, figures: compared };
}

/** `0.99 (0.97 – 1.02)`: the median and its interval. */
export function intervalText({ median, low, high }: Interval): string {
  return Number.isFinite(low)
    ? `${median.toFixed(2)} (${low.toFixed(2)} – ${high.toFixed(2)})`
    : `${median.toFixed(2)} (too few pairs)`;
}

async function getBuild(revision: string): Promise<OlderBuild> {
  const build = await olderBuild(revision, "every figure");
  if (build !== undefined) return build;
  throw new Fault("usage", `--against ${revision}: no such commit in this copy's history; fetch it, or name another`);
}
