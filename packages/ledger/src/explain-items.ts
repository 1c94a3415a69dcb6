import { invariant } from "@nightwriter/core";
import { type SqlFault, sqlFault } from "@nightwriter/database";
import { assertQueryVersion } from "@nightwriter/job";
import type { ApplyContext } from "./apply-context.ts";
import type { ExplanationRow } from "./explain-outcomes.ts";
import { givenItems } from "./given-items.ts";
import type { Item } from "./item.ts";
import { isOurs, isRefusal, proveOverNoItems } from "./refusal.ts";
import { statementsOf } from "./statements.ts";

/** What the tables say of an item, or why they could not be asked. */
type Explained = ReadonlyMap<Item, ExplanationRow | SqlFault>;

/**
 * Asks about all items at once, and, where one key's rows cannot be read, about each half. Throws SqlFault when the statement is
 * refused over no items as well, and a Fault when a newer build has changed the source query.
 */
export async function explainItems(context: ApplyContext, items: readonly Item[]): Promise<Explained> {
  let rows: readonly ExplanationRow[];
  try {
    rows = await ask(context, items);
  } catch (error) {
    return explainApart(context, items, sqlFault(error));
  }
  for (const { query_version } of rows) assertQueryVersion(query_version, context.job);
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return new Map(
    items.map((item) => {
      const row = byKey.get(item.key);
      invariant(row !== undefined, `item of key ${item.key}: the explanation left it out`);
      return [item, row];
    }),
  );
}

async function explainApart(context: ApplyContext, items: readonly Item[], fault: SqlFault): Promise<Explained> {
  if (isOurs(fault)) throw fault;
  if (!isRefusal(fault)) return new Map(items.map((item) => [item, fault]));
  if (items.length > 1) {
    const half = Math.ceil(items.length / 2);
    const first = await explainItems(context, items.slice(0, half));
    return new Map([...first, ...(await explainItems(context, items.slice(half)))]);
  }
  const weather = await proveOverNoItems(() => ask(context, []));
  return new Map(items.map((item) => [item, weather ?? fault]));
}

async function ask({ database, job, term }: ApplyContext, items: readonly Item[]): Promise<ExplanationRow[]> {
  const values = { ...givenItems(items), partition: term.partition };
  return (await database.run(statementsOf(database, job).explain.bind(values))).rows;
}
