/** A filter that names what no line has ever said is a slip, and would leave everything out, or nothing. */
import type { Session } from "@nightwriter/database";
import type { Acceptance } from "../acceptances.ts";
import { doubt } from "../doubt.ts";
import { plainColumn, plainValue, type RowFilter } from "../read/row-filter.ts";
import type { ContentScope } from "./known-imports.ts";

export interface SeenOptions {
  readonly name: string;
  readonly filter: RowFilter;
  readonly scope: ContentScope;
  readonly accepted: ReadonlySet<Acceptance>;
}

/** Throws ImportFault `in_doubt` for a value that neither this file had nor one that was imported before. */
export async function assertSeen(session: Session, { name, filter, scope, accepted }: SeenOptions): Promise<void> {
  for (const { option, column, value, instead } of filter.unseen) {
    const [before] = await session.query(
      `select from sales.import where restaurant_id is not distinct from $1 and feed = $2
         and seen_values -> $3 ? $4 limit 1`,
      [scope.restaurantId, scope.feed, plainColumn(column), plainValue(value)],
    );
    if (before !== undefined) continue;
    const there = instead.map((each) => JSON.stringify(each)).join(", ");
    const fact = instead.length === 0 ? "has no lines" : `has ${there} there`;
    doubt(accepted, ["unseen-ok"], {
      text: `${name}: --${option} ${JSON.stringify(`${column}=${value}`)}: no line says so, nor did one of an earlier import; the file ${fact}`,
      instead: ["write it as the file does"],
      details: { file: name, column, value },
    });
  }
}
