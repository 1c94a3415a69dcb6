import type { WithdrawnItem } from "@nightwriter/withdrawal";
import { formatInstant } from "../output/format.ts";
import { renderTable } from "../output/table.ts";

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
    items.map(({ runId, key, businessDate, status, attemptedAt, sqlstate, reason }) => [
      runId.toString(),
      key,
      businessDate,
      status,
      attemptedAt === undefined ? "" : formatInstant(attemptedAt),
      [sqlstate, reason].filter((each) => each !== undefined).join(" "),
    ]),
  );
}
