/**
 * Temporary tables that a file's lines are compared in before anything is recorded: `staged`, what the lines say; `current`, which of
 * them are sales that are recorded already, and what those are now, adopted if they had no such id; `pair`, which of them look like other recorded sales;
 * `gone`, imports that took sales back which are new again; `left_out`, lines that a filter left out; `taken`, the recorded sales of these.
 * They are gone with the transaction.
 */
import type { Session } from "@nightwriter/database";

/** Lines of a statement: a second or so of the server's work. */
const sliceLines = 20_000;

const tables = [
  `create temporary table staged (
    restaurant_id text collate "C" not null, business_date date, line bigint not null, amount_minor bigint, local_time timestamp, hash uuid,
    is_kept boolean not null
  ) on commit drop`,
  `create temporary table gone (import_id bigint primary key) on commit drop`,
  `create temporary table left_out (like staged) on commit drop`,
  `create temporary table taken (
    line bigint primary key, hash uuid, import_id bigint, was_restaurant text collate "C" not null, was_date date not null,
    was_amount bigint not null, local_time timestamp, first_date date not null, first_source text collate "C" not null, first_line bigint not null
  ) on commit drop`,
  `create temporary table current (
    line bigint primary key, import_id bigint, was_restaurant text collate "C" not null, was_date date not null, was_amount bigint not null,
    first_date date not null, first_source text collate "C" not null, first_line bigint not null, is_adopted boolean not null
  ) on commit drop`,
  `create temporary table pair (
    line bigint primary key, restaurant_id text collate "C" not null, business_date date not null,
    first_date date not null, first_source text collate "C" not null, first_line bigint not null
  ) on commit drop`,
];

export async function createStaging(session: Session): Promise<void> {
  for (const table of tables) await session.query(table);
}

/** After the lines are there. A line that is left out counts only where some of its restaurant are kept, and none with its id. */
export async function indexStaging(session: Session, { leftOut }: { readonly leftOut: number }): Promise<void> {
  if (leftOut > 0) {
    await session.query(
      `with gone as (delete from pg_temp.staged where not is_kept returning *)
       insert into pg_temp.left_out select distinct on (hash) * from gone
       where restaurant_id in (select restaurant_id from pg_temp.staged where is_kept)
         and hash not in (select hash from pg_temp.staged where is_kept and hash is not null)
       order by hash, line`,
    );
  }
  await session.query("create index on pg_temp.staged (line)");
  await session.query("create index on pg_temp.staged (business_date)");
  await session.query("analyze pg_temp.staged");
}

/** Runs a statement, and the common tables that are `given` to it, for all staged lines, a slice at a time: $1 is the first line of the slice, $2 its last. Returns how many rows it changed. */
export async function inSlices(
  session: Session,
  change: string | { readonly given: string; readonly change: string },
  parameters: readonly unknown[] = [],
): Promise<number> {
  const [given, text] = typeof change === "string" ? ["", change] : [`${change.given}, `, change.change];
  const [bounds] = await session.query<{ first: bigint | null; last: bigint | null }>(
    "select min(line) as first, max(line) as last from pg_temp.staged",
  );
  let count = 0;
  const last = Number(bounds?.last ?? 0n);
  for (let first = Number(bounds?.first ?? 1n); first <= last; first += sliceLines) {
    const [changed] = await session.query<{ count: bigint }>(
      `with ${given}changed as (${text} returning 1) select count(*) as count from changed`,
      [first, first + sliceLines - 1, ...parameters],
    );
    count += Number(changed?.count ?? 0n);
  }
  return count;
}
