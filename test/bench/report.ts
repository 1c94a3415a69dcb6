/** What is printed: a table for people, which is Markdown, or a document for machines. */
import { type ComparedReport, intervalText } from "./against/against.ts";
import { type Bound, type Figure, isReached, spreadOf } from "./figure.ts";
import type { Machine } from "./machine.ts";
import type { Scale } from "./scale.ts";

export interface Report {
  readonly machine: Machine;
  readonly scale: Scale;
  readonly startedAt: Temporal.Instant;
  readonly durationMs: number;
  readonly figures: readonly Figure[];
}

/** One JSON document. */
export function reportJson({ figures, ...rest }: Report): string {
  const measured = figures.map((figure) => ({
    ...figure,
    ...spreadOf(figure.pairs.map(({ value }) => value)),
    reached: isReached(figure),
  }));
  return JSON.stringify({ ...rest, figures: measured }, undefined, 2);
}

/** A Markdown table whose columns stand under each other in a terminal too. */
export function reportTable({ figures, machine, scale, startedAt }: Report): string {
  const rows = [
    ["what", "ours", "measured by", "median (least – greatest)", "must reach", ""],
    ...figures.map((figure) => rowOf(figure, scale)),
  ];
  return [...table(rows), "", ...machineLines(machine, startedAt), `scale ${scale.name}`].join("\n");
}

/** The same for two builds. */
export function comparedTable({ figures, machine, scale, startedAt, against }: ComparedReport): string {
  const rows = [
    ["what", "this build ÷ the earlier", "pairs", ""],
    ...figures.map(({ name, pairs, verdict, ...interval }) => [
      name,
      intervalText(interval),
      String(pairs.length),
      verdict,
    ]),
  ];
  return [...table(rows), "", ...machineLines(machine, startedAt), `against ${against}; scale ${scale}`].join("\n");
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...body.map(line)];
}

function machineLines(machine: Machine, startedAt: Temporal.Instant): string[] {
  const { cpu, cores, memoryGib, node, postgres, hugePages, redis, load } = machine;
  return [
    `${startedAt.toString({ smallestUnit: "minute" })}; ${cores} cores (${cpu}), ${memoryGib} GiB; load ${load.join(", ")} at the start`,
    `Node ${node}, PostgreSQL ${postgres} ${hugePages ? "with" : "without"} huge pages, Redis ${redis}`,
  ];
}

function rowOf(figure: Figure, scale: Scale): string[] {
  const { what, unit, valueUnit, bound, pairs } = figure;
  const side = (numbers: readonly number[]): string =>
    unit === "" ? "" : `${Math.round(spreadOf(numbers).median).toLocaleString("en")} ${unit}`;
  return [
    what,
    side(pairs.map(({ ours }) => ours)),
    side(pairs.map(({ theirs }) => theirs)),
    spreadText(figure),
    boundText(bound, valueUnit),
    scale.name === "small" ? "" : isReached(figure) ? "reached" : "MISSED",
  ];
}

/** `0.66 (0.61 – 0.70)`: the median, the least and the greatest. */
export function spreadText({ pairs, valueUnit }: Figure): string {
  const text = (number: number): string => number.toFixed(valueUnit === "" ? 2 : 0);
  const { median, min, max } = spreadOf(pairs.map(({ value }) => value));
  return `${[text(median), valueUnit].join(" ").trimEnd()} (${text(min)} – ${text(max)})`;
}

function boundText(bound: Bound, unit: string): string {
  const text = "atLeast" in bound ? `≥ ${bound.atLeast.toFixed(2)}` : `≤ ${bound.atMost}`;
  return [text, unit].join(" ").trimEnd();
}
