/**
 * Recording lines that were staged first, because some of them may be sales that are recorded already: known by an id, by their place in a
 * file that was imported before, or by what they say. A known sale is left as it is, or corrected by further rows that point to the first
 * one. Every state that an import leaves a sale with an id in is a row of sales.identity; the last import's holds.
 */
import type { Session } from "@nightwriter/database";
import type { Acceptance } from "../acceptances.ts";
import { doubt } from "../doubt.ts";
import { ImportFault } from "../import-fault.ts";
import { assertNoneAlike, describePairs } from "./overlaps.ts";
import { isAlike, type Paired, pairLines } from "./pair-lines.ts";
import type { Places } from "./places.ts";
import { dropRepeats, findById, findByPlace, findTaken, renameId, takeHalf } from "./staged-lines.ts";
import { inSlices } from "./staging.ts";

export interface Staged {
  readonly name: string;
  readonly importId: bigint;
  readonly source: string;
  readonly epoch: number;
  readonly feed: string;
  readonly hasIds: boolean;
  /** Of the file, those that had sales before. */
  readonly dates: readonly string[];
  /** The latest local time of the file. */
  readonly newest: string | undefined;
  /** The file's own past. */
  readonly own: Places;
  /** The line that was half of one when those were recorded. */
  readonly half: number | undefined;
  /** Where the same file was recorded without ids, read in another way. */
  readonly otherwise: Places | undefined;
  readonly accepted: ReadonlySet<Acceptance>;
}

export interface RecordedLines {
  readonly added: number;
  /** Sales that were there already as the file has them. */
  readonly known: number;
  readonly corrected: number;
  /** Of the known ones: recorded without an id before, and known by theirs from now on. */
  readonly adopted: number;
  /** Recorded before, and left out now. */
  readonly takenBack: number;
  /** Lines that repeat the amount of an id. */
  readonly repeated: number;
}

/** Throws ImportFault `in_doubt`, SqlFault. */
export async function recordStaged(session: Session, options: Staged): Promise<RecordedLines> {
  const { hasIds, half, own, otherwise, dates, importId } = options;
  const repeated = hasIds ? await dropRepeats(session, options) : 0;
  if (hasIds) await findById(session);
  if (hasIds) await findTaken(session);
  if (half !== undefined) {
    await takeHalf(session, own, half);
    await findByPlace(session, own, half);
    await renameId(session, { line: half, importId });
  }
  if (hasIds && otherwise !== undefined) await findByPlace(session, otherwise);
  await session.query("analyze pg_temp.current");
  if (hasIds) await adoptAlike(session, options);
  else if (options.accepted.has("only-new")) await dropAlike(session, options);
  else await assertNoneAlike(session, { ...options, dates, pairing: pairing(options, { isKept: false }) });
  await assertMayTake(session, options);
  await assertMayCorrect(session, options);
  const added = await addNew(session, options);
  const corrected = await correct(session, options);
  const takenBack = await takeBack(session, options);
  const [row] = await session.query<{ current: bigint; adopted: bigint }>(
    `select count(*) as current, count(*) filter (where is_adopted) as adopted from pg_temp.current`,
  );
  const [pairs] = await session.query<{ count: bigint }>("select count(*) from pg_temp.pair");
  const known = Number(row?.current ?? 0n) - corrected + Number(pairs?.count ?? 0n);
  return { added, known, corrected, adopted: hasIds ? Number(row?.adopted ?? 0n) : 0, takenBack, repeated };
}

/** Which imports this one has built on: they are undone after it. */
export async function rememberNeeds(session: Session, importId: bigint): Promise<void> {
  await session.query(
    `insert into sales.import_need (import_id, needs_id)
     select $1, needed.id from (
       select import_id as id from pg_temp.current union select import_id from pg_temp.taken union select import_id from pg_temp.gone
       union
       select (select min(import.id) from sales.import where import.source = sale.first_source)
       from (
         select first_source from pg_temp.current union select first_source from pg_temp.taken union select first_source from pg_temp.pair
       ) as sale
     ) as needed where needed.id is not null and needed.id <> $1
     on conflict do nothing`,
    [importId],
  );
}

function pairing({ source, own, feed, hasIds }: Staged, { isKept }: { readonly isKept: boolean }) {
  const lines = `select line, restaurant_id, amount_minor, local_time from (
      select * from pg_temp.staged union all select * from pg_temp.left_out where amount_minor is not null
    ) as line
    where business_date = $1 and line not in (select line from pg_temp.current) and line not in (select line from pg_temp.taken)`;
  return { lines, source, except: own.sources, feed, isWithoutId: hasIds, isKept };
}

/** Lines that look like recorded sales are taken for them: nothing is recorded of them. */
async function dropAlike(session: Session, options: Staged): Promise<void> {
  for (const date of options.dates) await pairLines(session, date, pairing(options, { isKept: true }));
}

/** Lines without a known id that look like sales which were recorded without one: these get it. */
async function adoptAlike(session: Session, options: Staged): Promise<void> {
  const { name, dates, accepted } = options;
  if (accepted.has("all-new")) return;
  const found: Paired[] = [];
  for (const date of dates) found.push(...(await pairLines(session, date, pairing(options, { isKept: true }))));
  const unlike = found.filter((each) => !isAlike(each));
  if (unlike.length > 0) {
    doubt(accepted, ["adopt", "all-new"], {
      text: `${name}: ${describePairs(unlike)} look like sales that were recorded without an id`,
      details: { file: name },
    });
  }
  await session.query(
    `insert into pg_temp.taken
     select line, hash, null, it.restaurant_id, it.business_date, amount_minor, local_time, first_date, first_source, first_line
     from pg_temp.pair join pg_temp.left_out as it using (line)`,
  );
  await session.query(
    `with adopted as (delete from pg_temp.pair returning *)
     insert into pg_temp.current
     select line, null, staged.restaurant_id, staged.business_date, amount_minor, first_date, first_source, first_line, true
     from adopted join pg_temp.staged using (line)`,
  );
}

/** Of known sales, how many may be left out without being asked about. */
const takenFree = 3;
const takenShare = 0.1;

async function assertMayTake(session: Session, { name, accepted }: Staged): Promise<void> {
  const [row] = await session.query<{ taken: bigint; known: bigint; line: bigint | null }>(
    `select (select count(*) from pg_temp.taken) as taken, (select count(*) from pg_temp.current) as known, (select min(line) from pg_temp.taken) as line`,
  );
  const taken = Number(row?.taken ?? 0n);
  const known = Number(row?.known ?? 0n) + taken;
  if (taken <= takenFree || taken <= known * takenShare) return;
  doubt(accepted, ["take-back"], {
    text: `${name}: ${taken} of ${known} sales that were recorded before are left out now, and would be taken back; the first is line ${row?.line}`,
    instead: ["see that --only and --except say what is meant"],
    details: { file: name, taken, known },
  });
}

const differing = `from pg_temp.current join pg_temp.staged using (line)
  where (was_amount, was_date, was_restaurant) is distinct from (staged.amount_minor, staged.business_date, staged.restaurant_id)`;

async function assertMayCorrect(session: Session, { name, newest, accepted }: Staged): Promise<void> {
  const [found] = await session.query<{ newer: bigint; by: string | null; closed: string | null }>(
    `select count(*) filter (where import.newest > $1::timestamp) as newer,
       min(import.name) filter (where import.newest > $1::timestamp) as by,
       min(date) filter (where date <= (select max(closed_through) from nightwriter.job))::text as closed
     from (
       select import_id, least(was_date, business_date) as date ${differing} union all select import_id, was_date from pg_temp.taken
     ) as change left join sales.import on import.id = change.import_id`,
    [newest ?? null],
  );
  if (found === undefined) return;
  if (found.closed !== null) {
    throw new ImportFault(
      "in_doubt",
      `${name}: corrects a sale of ${found.closed}, which is closed; nothing was recorded. Correct it by a sale of an open date`,
      {
        details: { file: name, date: found.closed },
      },
    );
  }
  if (found.newer === 0n) return;
  doubt(accepted, ["older"], {
    text: `${name}: would set ${found.newer} sales back to what they were before ${found.by ?? "a newer export"}, which is newer`,
    instead: ["import the newest export last"],
    details: { file: name, sales: found.newer },
  });
}

const isNew = `not exists (select from pg_temp.current where current.line = staged.line)
  and not exists (select from pg_temp.pair where pair.line = staged.line)`;

async function addNew(session: Session, { source, epoch, importId, hasIds }: Staged): Promise<number> {
  const added = await inSlices(
    session,
    `insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor, epoch, local_time)
     select restaurant_id, business_date, $3, line, amount_minor, $4, local_time from pg_temp.staged
     where line between $1 and $2 and ${isNew}`,
    [source, epoch],
  );
  if (!hasIds) return added;
  await inSlices(
    session,
    `insert into sales.identity (hash, import_id, restaurant_id, business_date, amount_minor, first_date, first_source, first_line)
     select hash, $4, restaurant_id, business_date, amount_minor, business_date, $3, line from pg_temp.staged
     where line between $1 and $2 and ${isNew}`,
    [source, importId],
  );
  return added;
}

/** What is left out is reversed, under the line number that it has in the file that leaves it out. */
async function takeBack(session: Session, { source, epoch, importId, hasIds }: Staged): Promise<number> {
  const taken = await session.query(
    `insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor, epoch, local_time, first_date, first_source, first_line)
     select was_restaurant, was_date, $1, line, -was_amount, $2, local_time, first_date, first_source, first_line from pg_temp.taken
     returning 1`,
    [source, epoch],
  );
  if (hasIds) {
    await session.query(
      `insert into sales.identity (hash, import_id, restaurant_id)
       select hash, $1, was_restaurant from pg_temp.taken where hash is not null on conflict do nothing`,
      [importId],
    );
  }
  return taken.length;
}

/** A correction has the line number of the file that made it. One that moves the sale is two rows, one where it was and one where it is. */
async function correct(session: Session, { source, epoch, importId, hasIds }: Staged): Promise<number> {
  await inSlices(
    session,
    `insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor, epoch, local_time, first_date, first_source, first_line)
     select change.restaurant_id, change.business_date, $3, line, change.amount_minor, $4, local_time, first_date, first_source, first_line
     from pg_temp.current join pg_temp.staged using (line)
     cross join lateral (select (was_restaurant, was_date) <> (staged.restaurant_id, staged.business_date) as has_moved) as sale
     cross join lateral (
       select staged.restaurant_id, staged.business_date, staged.amount_minor - was_amount as amount_minor where not has_moved
       union all select was_restaurant, was_date, -was_amount where has_moved
       union all select staged.restaurant_id, staged.business_date, staged.amount_minor where has_moved
     ) as change
     where line between $1 and $2 and (was_amount, was_date, was_restaurant)
       is distinct from (staged.amount_minor, staged.business_date, staged.restaurant_id)`,
    [source, epoch],
  );
  if (hasIds) {
    await inSlices(
      session,
      `insert into sales.identity (hash, import_id, restaurant_id, business_date, amount_minor, first_date, first_source, first_line)
       select hash, $3, restaurant_id, business_date, amount_minor, first_date, first_source, first_line
       ${differing.replace("where", "where (is_adopted or")})
       and line between $1 and $2`,
      [importId],
    );
  }
  const [row] = await session.query<{ count: bigint }>(`select count(*) ${differing}`);
  return Number(row?.count ?? 0n);
}
