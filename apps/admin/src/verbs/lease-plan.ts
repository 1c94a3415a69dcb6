/** What a lease costs, from given or from measured numbers. */
import { type LeaseFacts, type LeasePlan, measureRuns, planLease, type RunHistory } from "@nightwriter/lease";
import { type Answer, answer } from "../answer.ts";
import { openInstallation } from "../installation.ts";
import { formatCount, plural } from "../output/format.ts";
import { renderTable } from "../output/table.ts";
import type { Terminal } from "../terminal.ts";
import { UsageFault } from "../usage-fault.ts";

export interface LeasePlanOptions {
  readonly lease?: number | undefined;
  readonly compareLease?: number | undefined;
  readonly runs?: number | undefined;
  readonly slowShare?: number | undefined;
  readonly p99?: number | undefined;
  readonly grantsPerSecond: number;
  readonly replicationDelay?: number | undefined;
  readonly job: string;
  readonly last: number;
}

/** The length that LEASE_MS has if nobody sets it. */
const DEFAULT_LEASE_MS = 10_000;
const DEFAULT_COMPARED_MS = 600_000;

/** Calculates with what was given; only where nothing of the work was, the database is asked. */
export async function showLeasePlan(terminal: Terminal, options: LeasePlanOptions): Promise<Answer> {
  const { runs, slowShare, p99 } = options;
  if (runs === undefined && slowShare === undefined && p99 === undefined) return planMeasured(terminal, options);
  const work = { runs: runs ?? 1_000, slowShare: slowShare ?? 0.01, p99Ms: p99 };
  const facts = factsOf(options, { leaseMs: options.lease ?? DEFAULT_LEASE_MS, ...work });
  return conclude(facts, planLease(facts), undefined);
}

async function planMeasured(terminal: Terminal, options: LeasePlanOptions): Promise<Answer> {
  await using installation = await openInstallation(terminal, {
    verb: "lease plan",
    jobName: options.job,
    patient: true,
  });
  const { database, job, config } = installation;
  const leaseMs = options.lease ?? config.leaseMs;
  const measured = await measureRuns(database, {
    jobId: job.id,
    partitionCount: job.partitionCount,
    leaseMs,
    lastRuns: options.last,
  });
  const { measures, slow, p99Ms } = measured;
  if (measures === 0) {
    throw new UsageFault(
      `job ${options.job}: no run yet in which a worker wrote two batches of a partition; say --runs, --slow-share and --p99 instead`,
      { job: options.job },
    );
  }
  const facts = factsOf(options, { leaseMs, runs: measures, slowShare: slow / measures, p99Ms });
  return conclude(facts, planLease(facts), measured);
}

type Work = Pick<LeaseFacts, "leaseMs" | "runs" | "slowShare" | "p99Ms">;

function factsOf({ compareLease, grantsPerSecond, replicationDelay }: LeasePlanOptions, work: Work): LeaseFacts {
  return {
    ...work,
    compareLeaseMs: compareLease ?? DEFAULT_COMPARED_MS,
    grantsPerSecond,
    replicationDelayMs: replicationDelay ?? 0,
  };
}

function conclude(facts: LeaseFacts, plan: LeasePlan, measured: RunHistory | undefined): Answer {
  const parts = [
    measured === undefined ? "" : measuredText(measured),
    planTable(facts, plan),
    recommendationText(plan.recommendation),
  ];
  return answer({
    inOrder: true,
    document: { source: measured === undefined ? "options" : "ledger", measured, facts, plan },
    text: parts.filter((part) => part !== "").join("\n\n"),
  });
}

function measuredText({ runs, batches, measures, p50Ms = 0, p99Ms = 0, longestMs = 0 }: RunHistory): string {
  const times = `half take ${secondsText(p50Ms)} at most, 99 of 100 ${secondsText(p99Ms)}, the longest ${secondsText(longestMs)}`;
  return `measured in ${plural(runs, "run")}, ${plural(batches, "batch", "batches")}: ${plural(measures, "time")} from batch to batch; ${times}`;
}

function planTable(facts: LeaseFacts, plan: LeasePlan): string {
  const { compared } = plan;
  const ofRuns = `of ${formatCount(plan.runs)}`;
  const rows = [
    ["length", secondsText(plan.leaseMs), secondsText(compared.leaseMs)],
    ["outlive it, if it is never renewed", `${formatCount(plan.outliveWithoutRenewal)} ${ofRuns}`, ""],
    [
      `outlive it, renewed every ${secondsText(plan.renewalMs)}`,
      `${formatCount(plan.outliveWithRenewal)} ${ofRuns}`,
      "",
    ],
    ["a freeze that is outlived for sure", secondsText(plan.surePauseMs), ""],
    [
      "longest wait after a crash",
      secondsText(plan.longestWaitMs),
      `${secondsText(compared.longestWaitMs)}, ${timesText(compared.ratio)}`,
    ],
    ["grants not yet copied at a failover", failoverText(facts, plan), ""],
  ];
  return renderTable([{ title: "" }, { title: "this lease" }, { title: "compared with" }], rows);
}

function failoverText({ grantsPerSecond, replicationDelayMs }: LeaseFacts, { grantsNotCopied }: LeasePlan): string {
  return grantsPerSecond === 0 || replicationDelayMs === 0
    ? "0"
    : `${grantsNotCopied} (${grantsPerSecond}/s, ${secondsText(replicationDelayMs)} behind)`;
}

function recommendationText({ leaseMs, renewalMs, marginMs, reason }: LeasePlan["recommendation"]): string {
  const lengths = `lease ${secondsText(leaseMs)}, renewed every ${secondsText(renewalMs)}, not trusted in its last ${secondsText(marginMs)}`;
  return `recommended: ${lengths}\nbecause: ${reason}`;
}

/** Always in seconds, to the millisecond: what is compared must look alike. */
function secondsText(ms: number): string {
  return `${Math.round(ms) / 1_000} s`;
}

function timesText(ratio: number): string {
  return ratio === 1 ? "the same" : ratio > 1 ? `${round(ratio)} times longer` : `${round(1 / ratio)} times shorter`;
}

function round(ratio: number): number {
  return Math.round(ratio * 100) / 100;
}
