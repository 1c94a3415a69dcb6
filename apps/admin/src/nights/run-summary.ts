/** How runs ended, or how they stand when nobody waits for them. */
import type { RunStatus } from "@nightwriter/run";
import { type Answer, answer } from "../answer.ts";
import type { Interrupted } from "../interrupt.ts";
import { formatCount, formatDuration, plural } from "../output/format.ts";
import { type DeltaByCurrency, formatDeltas } from "./delta-by-currency.ts";
import { parkedTable } from "./parked-table.ts";
import { isInOrder, statusDocument } from "./status-document.ts";
import { sum } from "./wait-for-runs.ts";

export interface RunSummary {
  readonly statuses: readonly RunStatus[];
  readonly planned: number;
  readonly deltas: DeltaByCurrency;
  /** From the command's begin to its end. */
  readonly durationMs: number;
}

/** The answer of a verb that waited for its runs. */
export function summarize({ statuses, planned, deltas, durationMs }: RunSummary): Answer {
  const applied = sum(statuses, (status) => status.applied);
  const lines = [
    `${runsText(statuses)}: ${plural(applied, "item")} applied${leftText(statuses)}`,
    `added ${formatDeltas(deltas)}`,
    `took ${formatDuration(durationMs)}${rateText(statuses)}`,
    parkedTable(statuses),
  ];
  return answer({
    inOrder: statuses.every(isInOrder),
    document: {
      planned,
      durationMs: Math.round(durationMs),
      deltaMinorByCurrency: deltas,
      runs: statuses.map(statusDocument),
    },
    text: lines.filter((line) => line !== "").join("\n"),
  });
}

/** `run 7 (nightly, 2026-03-28)`, or `runs 7 to 36 (30 nightly, …)` for many. */
export function runsText(statuses: readonly RunStatus[]): string {
  const [first] = statuses;
  const last = statuses.at(-1);
  if (first === undefined || last === undefined) return "no runs";
  const { id, kind, businessDate } = first.run;
  if (first === last) return `run ${id} (${kind}, ${businessDate.toString()})`;
  return `${formatCount(statuses.length)} runs (${kind}, ${businessDate.toString()} to ${last.run.businessDate.toString()})`;
}

function leftText(statuses: readonly RunStatus[]): string {
  const kinds = ["due", "paused", "parked", "cancelled"] as const;
  const parts = kinds.flatMap((kind) => {
    const count = sum(statuses, (status) => status[kind]);
    return count === 0 ? [] : [`${formatCount(count)} ${kind}`];
  });
  return parts.map((part) => `, ${part}`).join("");
}

/** The rate from the first entry to the last one: with several runs of all of them together. */
function rateText(statuses: readonly RunStatus[]): string {
  const first = statuses.flatMap(({ firstAppliedAt }) => firstAppliedAt?.epochMilliseconds ?? []);
  const last = statuses.flatMap(({ lastAppliedAt }) => lastAppliedAt?.epochMilliseconds ?? []);
  const seconds = (Math.max(...last) - Math.min(...first)) / 1_000;
  const applied = sum(statuses, (status) => status.applied);
  return seconds > 0 ? `, ${formatCount(Math.round(applied / seconds))} items/s` : "";
}

/** The answer of a wait that somebody ended: nothing else was. */
export function interruptedSummary(statuses: readonly RunStatus[], { exitCode }: Interrupted): Answer {
  const applied = sum(statuses, (status) => status.applied);
  const dates = [...new Set(statuses.map(({ run }) => run.businessDate.toString()))];
  const looks = dates.slice(-3).map((date) => `  nightwriter status --date ${date} --watch`);
  const lines = [
    `${runsText(statuses)}: goes on without this command; ${plural(applied, "item")} applied so far${leftText(statuses)}`,
    ...(looks.length === 0 ? [] : ["look at it with:", ...looks]),
  ];
  return { exitCode, document: { interrupted: true, runs: statuses.map(statusDocument) }, text: lines.join("\n") };
}
