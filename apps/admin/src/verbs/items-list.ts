import { type WithdrawnItem, withdrawnItems } from "@nightwriter/withdrawal";
import { type Answer, answer } from "../answer.ts";
import { openInstallation } from "../installation.ts";
import { plural } from "../output/format.ts";
import { assertRestaurants } from "../restaurants.ts";
import type { Terminal } from "../terminal.ts";
import { type SelectionOptions, selectionOf } from "../withdrawn/selection.ts";
import { withdrawnTable } from "../withdrawn/withdrawn-table.ts";

export interface ListItemsOptions extends SelectionOptions {
  readonly job: string;
  readonly limit: number;
}

/** Says what is withdrawn, and why; lists up to the limit and counts the rest, in bounded memory. */
export async function listItems(terminal: Terminal, options: ListItemsOptions): Promise<Answer> {
  await using installation = await openInstallation(terminal, { verb: "items list", jobName: options.job });
  await assertRestaurants(installation, options.key ?? []);
  const listed: WithdrawnItem[] = [];
  const counts = new Map<string, number>();
  for await (const page of withdrawnItems(installation.database, installation.job, selectionOf(options))) {
    listed.push(...page.slice(0, options.limit - listed.length));
    for (const item of page) counts.set(kindOf(item), (counts.get(kindOf(item)) ?? 0) + 1);
  }
  const count = counts.values().reduce((sum, each) => sum + each, 0);
  return answer({
    inOrder: count === 0,
    document: { job: options.job, count, counts: Object.fromEntries(counts), items: listed },
    text: count === 0 ? "nothing is parked or cancelled" : listText(listed, counts, count),
  });
}

/** By what they are counted: the error that parked them, or that nobody recorded one, or that a person cancelled them. */
function kindOf({ status, sqlstate }: WithdrawnItem): string {
  return status === "cancelled" ? "cancelled" : (sqlstate ?? "parked without SQLSTATE");
}

function listText(listed: readonly WithdrawnItem[], counts: ReadonlyMap<string, number>, count: number): string {
  const more = count - listed.length;
  return [
    withdrawnTable(listed),
    ...(more === 0 ? [] : [`and ${plural(more, "more item", "more items")}; --limit lists more`]),
    "",
    `${plural(count, "item")}: ${Array.from(counts, ([kind, each]) => `${each} ${kind}`).join(", ")}`,
    "when what parked them is mended: nightwriter items retry --sqlstate CODE --reason TEXT",
  ].join("\n");
}
