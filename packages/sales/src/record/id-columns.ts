/** Ids that are made of other columns than before know none of the sales that were recorded, which would count again. */
import type { Session } from "@nightwriter/database";
import type { Acceptance } from "../acceptances.ts";
import { doubt } from "../doubt.ts";
import { type ContentScope, isUndone } from "./known-imports.ts";
import { idColumnsOf, type Reading } from "./reading.ts";

export interface IdColumnsOptions {
  readonly name: string;
  readonly scope: ContentScope;
  readonly reading: Reading;
  /** Of its lines, in order. */
  readonly dates: readonly string[];
  readonly accepted: ReadonlySet<Acceptance>;
}

/** Throws ImportFault `in_doubt` if an import of this restaurant and source, with dates that these are among, made its ids otherwise. */
export async function assertSameIds(
  session: Session,
  { name, scope, reading, dates, accepted }: IdColumnsOptions,
): Promise<void> {
  const now = idColumnsOf(reading);
  const [first] = dates;
  if (now.length === 0 || first === undefined) return;
  const [last] = await session.query<{ id: bigint; name: string; reading: Reading }>(
    `select id, name, reading from sales.import
     where restaurant_id is not distinct from $1 and feed = $2 and reading -> '--id-column' <> $3::jsonb and not ${isUndone}
       and first_date <= $5::date and last_date >= $4::date
     order by id desc limit 1`,
    [scope.restaurantId, scope.feed, JSON.stringify(now), first, dates.at(-1)],
  );
  if (last === undefined) return;
  const then = idColumnsOf(last.reading);
  doubt(accepted, ["all-new"], {
    text: `${name}: its ids are made of ${named(now)}, those of ${last.name} (import ${last.id}) of ${named(then)}: sales that both have would count twice`,
    instead: ["say --id-column as before", "if it comes from elsewhere, name it with --source"],
    details: { file: name, import: last.id },
  });
}

function named(columns: readonly string[]): string {
  return columns.map((column) => JSON.stringify(column)).join(" and ");
}
