import type { WithdrawnItem } from "@nightwriter/withdrawal";
import { formatInstant } from "../output/format.ts";
import { renderTable } from "../output/table.ts";
import { errorText } from "./error-text.ts";

/** One line for each, with the error that parked it. */
export function withdrawnTable(items: readonly WithdrawnItem[]): string {
  return renderTable(
    [
      { title: "run", align: "right" },
      { title: "key" },
      { title: "date" },
      { title: "status" },
      { title: "since" },
      { title: "error" },
    ],
    items.map((item) => [
      item.runId.toString(),
      item.key,
      item.businessDate,
      item.status,
      item.attemptedAt === undefined ? "" : formatInstant(item.attemptedAt),
      errorText(item),
    ]),
  );
}
