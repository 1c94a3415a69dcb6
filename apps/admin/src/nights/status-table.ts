import type { Job } from "@nightwriter/job";
import { overdueReason } from "@nightwriter/nights";
import type { RunStatus } from "@nightwriter/run";
import { formatCount } from "../output/format.ts";
import { renderTable } from "../output/table.ts";
import { crowdedText } from "./crowded-text.ts";
import { parkedTable } from "./parked-table.ts";

const counts = ["total", "applied", "due", "paused", "parked", "cancelled"] as const;

/** One line per run, and below them the parked items with their errors. */
export function statusTable(job: Job, statuses: readonly RunStatus[], now: Temporal.Instant): string {
  const columns = [
    { title: "run", align: "right" },
    { title: "date" },
    { title: "kind" },
    { title: "state" },
    ...counts.map((title) => ({ title: title === "total" ? "items" : title, align: "right" }) as const),
    { title: "items/s", align: "right" },
  ] as const;
  const rows = statuses.map((status) => [
    status.run.id.toString(),
    status.run.businessDate.toString(),
    status.run.kind,
    stateOf(job, status, now),
    ...counts.map((name) => formatCount(status[name])),
    status.appliedPerSecond === undefined ? "" : formatCount(Math.round(status.appliedPerSecond)),
  ]);
  const texts = [renderTable(columns, rows), parkedTable(statuses), crowdedText(statuses)];
  return texts.filter((text) => text !== "").join("\n\n");
}

function stateOf(job: Job, status: RunStatus, now: Temporal.Instant): string {
  const { run, due } = status;
  if (run.cancelledAt !== undefined) return "cancelled";
  if (run.finishedAt !== undefined) return "finished";
  if (overdueReason(job, status, now) !== undefined) return "overdue";
  return due > 0 ? "under way" : "to be finished";
}
