import { setTimeout } from "node:timers/promises";
import type { Job } from "@nightwriter/job";
import { lookAtNights, overdueReason } from "@nightwriter/nights";
import type { RunStatus } from "@nightwriter/run";
import { databaseNow, endsAt } from "@nightwriter/schedule";
import { createLogUpdate } from "log-update";
import { type Answer, answer } from "../answer.ts";
import { type Installation, openInstallation } from "../installation.ts";
import { watchInterrupt } from "../interrupt.ts";
import { findingsOf } from "../nights/findings.ts";
import { latestRuns } from "../nights/latest-runs.ts";
import { findingsText, lookDocument, processesText } from "../nights/look-text.ts";
import { queueFindings } from "../nights/paused-queues.ts";
import { isInOrder, statusDocument } from "../nights/status-document.ts";
import { statusTable } from "../nights/status-table.ts";
import { sum } from "../nights/wait-for-runs.ts";
import { startProgress } from "../output/progress.ts";
import { canRedraw, type Terminal } from "../terminal.ts";

const REFRESH_EVERY_MS = 1_000;

export interface StatusOptions {
  readonly date?: Temporal.PlainDate | undefined;
  readonly job: string;
  readonly limit: number;
  readonly watch: boolean;
}

/**
 * Says how runs stand and, without a date, what is missing, overdue or parked of any age; with `watch` once nothing is due any
 * more, or somebody has seen enough. What time it is, the database says.
 */
export async function showStatus(terminal: Terminal, options: StatusOptions): Promise<Answer> {
  await using installation = await openInstallation(terminal, { verb: "status", jobName: options.job });
  const statuses = await watchOrLook(terminal, installation, options);
  const { date, job: name } = options;
  if (date !== undefined) return await dateStatus(installation, { date, name }, statuses);
  return await wholeStatus(installation, name, statuses);
}

async function wholeStatus(installation: Installation, name: string, statuses: readonly RunStatus[]): Promise<Answer> {
  const { database, job } = installation;
  const look = await lookAtNights(database, job);
  const findings = [...findingsOf(look), ...(await queueFindings(installation))];
  const table = statuses.length === 0 ? noRunsText(undefined) : statusTable(job, statuses, look.now);
  return answer({
    inOrder: statuses.every(isInOrder) && findings.every(({ trouble }) => !trouble),
    document: { job: name, ...lookDocument(look), findings, runs: runDocuments(job, statuses, look.now) },
    text: [findingsText(findings), processesText(look), table].filter((part) => part !== "").join("\n\n"),
  });
}

type DateOptions = { readonly date: Temporal.PlainDate; readonly name: string };

async function dateStatus(
  { database, job }: Installation,
  { date, name }: DateOptions,
  statuses: readonly RunStatus[],
): Promise<Answer> {
  const now = await databaseNow(database);
  const missing = statuses.length === 0 && Temporal.Instant.compare(endsAt(job, date), now) <= 0;
  return answer({
    inOrder: !missing && statuses.every((status) => isInOrder(status) && overdueReason(job, status, now) === undefined),
    document: { job: name, now, runs: runDocuments(job, statuses, now) },
    text: statuses.length === 0 ? noRunsText(date) : statusTable(job, statuses, now),
  });
}

function runDocuments(job: Job, statuses: readonly RunStatus[], now: Temporal.Instant): object[] {
  return statuses.map((status) => ({
    ...statusDocument(status),
    overdue: overdueReason(job, status, now) !== undefined,
  }));
}

async function watchOrLook(
  terminal: Terminal,
  { database, job }: Installation,
  { date, limit, watch }: StatusOptions,
): Promise<RunStatus[]> {
  const look = async (): Promise<RunStatus[]> => latestRuns(database, job, { date, limit });
  if (!watch) return look();
  return watchRuns(terminal, {
    look,
    show: async (statuses) => statusTable(job, statuses, await databaseNow(database)),
  });
}

type Watched = {
  readonly look: () => Promise<RunStatus[]>;
  readonly show: (statuses: readonly RunStatus[]) => Promise<string>;
};

/** Refreshes a table on a terminal, and elsewhere prints a line every now and then, until nothing is due. */
async function watchRuns(terminal: Terminal, { look, show }: Watched): Promise<RunStatus[]> {
  using interrupt = watchInterrupt();
  const table = canRedraw(terminal.stderr) ? createLogUpdate(terminal.stderr) : undefined;
  const progress = table === undefined ? startProgress(terminal, { label: "items settled" }) : undefined;
  for (;;) {
    const statuses = await look();
    const due = sum(statuses, (status) => status.due);
    if (due === 0 || interrupt.signal.aborted) {
      table?.clear();
      table?.done();
      return statuses;
    }
    const total = sum(statuses, (status) => status.total);
    progress?.update(total - due, total);
    table?.(await show(statuses));
    // Woken early by Ctrl-C, which ends the watch with the answer so far.
    await setTimeout(REFRESH_EVERY_MS, undefined, { signal: interrupt.signal }).catch(() => undefined);
  }
}

function noRunsText(date: Temporal.PlainDate | undefined): string {
  if (date === undefined) return "no runs yet; run a night with: nightwriter run --date DATE --wait";
  return `no run of ${date.toString()}; run it with: nightwriter run --date ${date.toString()} --wait`;
}
