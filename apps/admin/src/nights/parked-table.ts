import type { RunStatus } from "@nightwriter/run";
import { renderTable } from "../output/table.ts";
import { errorText } from "../withdrawn/error-text.ts";
import { sum } from "./wait-for-runs.ts";

/** The parked items that the statuses list, each with its error, and how many more there are; nothing when none is parked. */
export function parkedTable(statuses: readonly RunStatus[]): string {
  const listed = statuses.flatMap(({ run, parkedItems }) => parkedItems.map((item) => ({ runId: run.id, ...item })));
  if (listed.length === 0) return "";
  const more = sum(statuses, ({ parked }) => parked) - listed.length;
  const table = renderTable(
    [{ title: "parked", align: "right" }, { title: "key" }, { title: "date" }, { title: "error" }],
    listed.map((item) => [`run ${item.runId}`, item.key, item.businessDate, errorText(item)]),
  );
  return more > 0 ? `${table}\nand ${more} more` : table;
}
