/**
 * How fast: ratios, each measured in pairs within one run on one machine. See README.md.
 *
 * Nothing outlives it. The servers and processes are guarded ones, which end and remove their folders when this process ends,
 * however it ends: Ctrl-C needs no handler.
 */
import { inspect } from "node:util";
import { Fault } from "@nightwriter/core";
import { benchAgainst } from "./against/against.ts";
import { type Figure, isReached } from "./figure.ts";
import { assertRoom, describeMachine } from "./machine.ts";
import { type Options, parseOptions, usage } from "./options.ts";
import { startProgress } from "./progress.ts";
import { comparedTable, type Report, reportJson, reportTable, spreadText } from "./report.ts";
import { growthRow } from "./rows/growth.ts";
import { guardedWriteRow } from "./rows/guarded-write.ts";
import { leaseRow } from "./rows/lease.ts";
import { nightRow } from "./rows/night.ts";
import { planningRow } from "./rows/planning.ts";
import type { Row } from "./rows/row.ts";
import { verifyRow } from "./rows/verify.ts";
import { openStage, serverSeconds, stageSeconds } from "./stage.ts";

const rows: readonly Row[] = [nightRow, leaseRow, guardedWriteRow, planningRow, growthRow, verifyRow];

type BoundOptions = Extract<Options, { kind: "bounds" }>;

async function bench({ scale, pairCount, rows: wanted }: BoundOptions): Promise<Report> {
  const startedAt = Temporal.Now.instant();
  const startMs = performance.now();
  const machine = describeMachine();
  await assertRoom(scale);
  const beforeRows = serverSeconds + stageSeconds(scale).ordinary;
  const seconds = wanted.reduce((sum, row) => sum + row.seconds(scale, pairCount), beforeRows);
  const progress = startProgress({ seconds, write: say });
  await using stage = await openStage({ scale, pairCount, progress });
  const figures: Figure[] = [];
  for (const row of wanted) {
    const measured = await row.measure(stage);
    for (const figure of measured) say(`${figure.name}: ${spreadText(figure)}`);
    figures.push(...measured);
  }
  const durationMs = Math.round(performance.now() - startMs);
  return { machine: { ...machine, ...stage.servers }, scale, startedAt, durationMs, figures };
}

function say(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}

function leave(error: unknown): never {
  if (error instanceof Fault && error.code === "usage") {
    process.stderr.write(`${error.message}\n\n${usage(rows)}\n`);
    process.exit(2);
  }
  process.stderr.write(`${error instanceof Fault ? error.message : inspect(error)}\n`);
  process.exit(1);
}

async function holdToBounds(options: BoundOptions): Promise<void> {
  const limit = options.scale.limitMinutes;
  const late = setTimeout(() => leave(new Fault("late", `not done after ${limit} minutes; given up`)), limit * 60_000);
  const report = await bench(options);
  clearTimeout(late);
  process.stdout.write(`${options.json ? reportJson(report) : reportTable(report)}\n`);
  if (options.scale.name === "full" && !report.figures.every(isReached)) process.exitCode = 3;
}

async function compare(options: Extract<Options, { kind: "against" }>): Promise<void> {
  const report = await benchAgainst({ ...options, say });
  process.stdout.write(`${options.json ? JSON.stringify(report, undefined, 2) : comparedTable(report)}\n`);
  const isSlower = report.figures.some(({ verdict }) => verdict === "slower");
  if (options.scale.name === "full" && isSlower) process.exitCode = 3;
}

try {
  const args = process.argv.slice(2);
  if (args.includes("--help")) {
    process.stdout.write(`${usage(rows)}\n`);
    process.exit(0);
  }
  const options = parseOptions(args, rows);
  await (options.kind === "bounds" ? holdToBounds(options) : compare(options));
} catch (error) {
  leave(error);
}
