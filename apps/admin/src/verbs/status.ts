import { setTimeout } from "node:timers/promises";
import { systemClock } from "@nightwriter/core";
import type { RunStatus } from "@nightwriter/run";
import { createLogUpdate } from "log-update";
import { type Answer, answer } from "../answer.ts";
import { type Installation, openInstallation } from "../installation.ts";
import { watchInterrupt } from "../interrupt.ts";
import { latestRuns } from "../nights/latest-runs.ts";
import { isInOrder, isOverdue, statusDocument } from "../nights/status-document.ts";
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

/** Says how runs stand; with `watch` once nothing is due any more, or somebody has seen enough. */
export async function showStatus(terminal: Terminal, { date, job, limit, watch }: StatusOptions): Promise<Answer> {
  await using installation = await openInstallation(terminal, { verb: "status", jobName: job });
  const look = async (): Promise<RunStatus[]> => latestRuns(installation.database, installation.job, { date, limit });
  const statuses = watch ? await watchRuns(terminal, look) : await look();
  const now = systemClock.now();
  const missing = date !== undefined && statuses.length === 0 && isPast(date, installation, now);
  return answer({
    inOrder: !missing && statuses.every((status) => isInOrder(status) && !isOverdue(status, now)),
    document: {
      job,
      runs: statuses.map((status) => ({ ...statusDocument(status), overdue: isOverdue(status, now) })),
    },
    text: statuses.length === 0 ? noRunsText(date) : statusTable(statuses, now),
  });
}

/** Refreshes a table on a terminal, and elsewhere prints a line every now and then, until nothing is due. */
async function watchRuns(terminal: Terminal, look: () => Promise<RunStatus[]>): Promise<RunStatus[]> {
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
    table?.(statusTable(statuses, systemClock.now()));
    // Woken early by Ctrl-C, which ends the watch with the answer so far.
    await setTimeout(REFRESH_EVERY_MS, undefined, { signal: interrupt.signal }).catch(() => undefined);
  }
}

function isPast(date: Temporal.PlainDate, { job }: Installation, now: Temporal.Instant): boolean {
  const today = now.toZonedDateTimeISO(job.definition.timeZone).toPlainDate();
  return Temporal.PlainDate.compare(date, today) < 0;
}

function noRunsText(date: Temporal.PlainDate | undefined): string {
  if (date === undefined) return "no runs yet; run a night with: nightwriter run --date DATE --wait";
  return `no run of ${date.toString()}; run it with: nightwriter run --date ${date.toString()} --wait`;
}
