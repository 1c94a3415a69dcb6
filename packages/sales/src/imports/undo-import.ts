/**
 * Taking back what an import has recorded, by further rows: each of its rows is reversed, each sale with an id is what it was before. The
 * next night adds the signed differences. An undo is an import's row like any other, and can be undone in the same way.
 */
import { type Actor, auditStatement } from "@nightwriter/audit";
import type { Database, Session } from "@nightwriter/database";
import { ImportFault } from "../import-fault.ts";
import { currentEpoch } from "../record/epoch.ts";
import { isAlike, pairLines } from "../record/pair-lines.ts";
import { findRecordedDates } from "../record/recorded-dates.ts";
import { reserveImport } from "../record/remember-import.ts";
import { inTurn } from "../record/turn.ts";
import { chain, unknownImport } from "./list-imports.ts";

export interface UndoOptions {
  /** Of an import or an undo. */
  readonly id: bigint;
  readonly actor: Actor;
  readonly reason: string;
  /** Does it all, and takes it back. Default: false. */
  readonly dryRun?: boolean;
  /** Called whenever an import is still at work. */
  readonly onWait?: () => void;
  /** Rows reversed, of so many. */
  readonly onProgress?: (rows: number, of: number) => void;
}

export interface UndoneImport {
  /** False: it was not in force, and nothing was changed. */
  readonly changed: boolean;
  readonly file: string;
  /** The number of the undo; undefined: nothing was changed. */
  readonly undo: bigint | undefined;
  readonly rows: number;
  /** What was added by it, in minor units by currency. */
  readonly sums: ReadonlyMap<string, bigint>;
  readonly businessDates: readonly string[];
}

/** All of it, or nothing. Throws ImportFault `import_unknown`, `import_needed`, `date_closed`, `in_doubt`; SqlFault. */
export async function undoImport(database: Database, options: UndoOptions): Promise<UndoneImport> {
  return inTurn(database, (session) => undoInTurn(database, session, options), options);
}

interface Target {
  readonly id: bigint;
  readonly isInForce: boolean;
  /** What holds of it: itself, or the undo of its undo. */
  readonly last: bigint;
  /** Whether what it undid holds again once it is undone. */
  readonly isUndo: boolean;
  readonly name: string;
  readonly restaurant: string | null;
  readonly feed: string;
  readonly source: string;
  readonly firstLine: bigint;
  readonly lastLine: bigint;
  readonly hasIds: boolean;
}

async function undoInTurn(database: Database, session: Session, options: UndoOptions): Promise<UndoneImport> {
  const { id, actor, reason, onProgress = () => {} } = options;
  const target = await findTarget(session, id);
  const none = { rows: 0, sums: new Map(), businessDates: [], file: target.name, undo: undefined };
  if (!target.isInForce) return { ...none, changed: false };
  await assertNotNeeded(session, target);
  const dates = await datesOf(session, target);
  await assertOpen(session, { target, dates });
  if (target.isUndo) await assertNoneAgain(session, { target, dates });
  const reserved = await reserveImport(session, { dryRun: options.dryRun ?? false });
  const epoch = await currentEpoch(session);
  const of = dates.reduce((sum, { rows }) => sum + rows, 0);
  let rows = 0;
  for (const { date } of dates) {
    rows += await reverse(session, { target, source: reserved.source, epoch, date, after: rows });
    onProgress(rows, of);
  }
  await restoreIdentities(session, target, reserved.id);
  const sums = await sumOf(session, reserved.source, dates);
  await remember(session, { target, options, reserved, rows, sums, dates });
  const businessDates = dates.map(({ date }) => date);
  const after = {
    undo: reserved.id,
    rows,
    sums: Object.fromEntries(sums),
    dates: [businessDates[0], businessDates.at(-1)],
  };
  const audit = { actor, verb: "imports undo", reason, arguments: { import: id }, after };
  await session.run(auditStatement(database.db, audit).compile());
  return { changed: true, file: target.name, undo: reserved.id, rows, sums, businessDates };
}

async function findTarget(session: Session, id: bigint): Promise<Target> {
  const [target] = await session.query<Target>(
    `${chain} select asked.id, chain.is_in_force as "isInForce", chain.last, root.depth % 2 = 1 as "isUndo",
       last.name, last.restaurant_id as restaurant, last.feed, last.source, last.first_line as "firstLine", last.last_line as "lastLine",
       coalesce(root.reading ? '--id-column', false) as "hasIds"
     from sales.import as asked join chain using (id) join sales.import as last on last.id = chain.last
     join lateral (
       with recursive back as (
         select asked.id, asked.undoes, 0 as depth
         union all select it.id, it.undoes, depth + 1 from back join sales.import it on it.id = back.undoes
       ) select import.reading, depth from back join sales.import using (id) where back.undoes is null
     ) as root on true
     where asked.id = $1`,
    [id],
  );
  if (target === undefined) throw unknownImport(id);
  return target;
}

/** Whatever came later and is in force may have taken a sale for known, corrected it, or taken it for new because it was taken back. */
async function assertNotNeeded(session: Session, { id, last, name }: Target): Promise<void> {
  const [later] = await session.query<{ id: bigint; name: string }>(
    `${chain} select import.id, name from sales.import_need join sales.import on import.id = import_id join chain on chain.id = import_id
     where needs_id in ($1, $2) and chain.is_in_force order by import.id desc limit 1`,
    [id, last],
  );
  if (later === undefined) return;
  throw new ImportFault(
    "import_needed",
    `import ${id} (${name}): import ${later.id} (${later.name}) has built on it; undo that one first: nightwriter imports undo ${later.id}`,
    { details: { import: id, by: later.id } },
  );
}

type DateOfRows = { readonly date: string; readonly rows: number };

async function datesOf(session: Session, { source, firstLine, lastLine, last }: Target): Promise<DateOfRows[]> {
  const [span] = await session.query<{ first: string | null; last: string | null }>(
    "select first_date::text as first, last_date::text as last from sales.import where id = $1",
    [last],
  );
  const recorded = await findRecordedDates(session);
  const dates = [...recorded].filter((date) => (span?.first ?? date) <= date && date <= (span?.last ?? date));
  const rows = await session.query<{ date: string; rows: bigint }>(
    `select business_date::text as date, count(*) as rows from sales.sale
     where business_date = any($1::date[]) and source = $2 and source_line between $3 and $4 group by 1 order by 1`,
    [dates, source, firstLine, lastLine],
  );
  return rows.map(({ date, rows: count }) => ({ date, rows: Number(count) }));
}

interface OfTarget {
  readonly target: Target;
  readonly dates: readonly DateOfRows[];
}

async function assertOpen(session: Session, { target: { id, name }, dates }: OfTarget): Promise<void> {
  const [first] = dates;
  const [row] = await session.query<{ through: string | null }>(
    "select max(closed_through)::text as through from nightwriter.job",
  );
  const through = row?.through ?? null;
  if (first === undefined || through === null || first.date > through) return;
  throw new ImportFault(
    "date_closed",
    `import ${id} (${name}): has sales of ${first.date}, and every date up to ${through} is closed; correct them by sales of an open date`,
    { details: { import: id, date: first.date, through } },
  );
}

/** What was taken back and has been recorded anew since, without an id, would count twice if the undo were undone. */
async function assertNoneAgain(session: Session, { target, dates }: OfTarget): Promise<void> {
  const { id, name, hasIds, source, feed } = target;
  if (hasIds) return;
  const lines = `select row.source_line as line, row.restaurant_id, -row.amount_minor as amount_minor, row.local_time from sales.sale as row
    where row.business_date = $1 and row.source = '${source.replaceAll("'", "''")}'`;
  for (const { date } of dates) {
    const pairing = { lines, source: "", except: [], feed, isWithoutId: false, isKept: false };
    const [alike] = (await pairLines(session, date, pairing)).filter(isAlike);
    if (alike === undefined) continue;
    throw new ImportFault(
      "in_doubt",
      `import ${id} (${name}): what it took back looks like sales that were recorded since, ${alike.restaurantId} ${date}: ${alike.paired} of ${alike.lines}; nothing was changed. Undo the import of these first: nightwriter imports list`,
      { details: { import: id, date } },
    );
  }
}

interface Reversal {
  readonly target: Target;
  readonly source: string;
  readonly epoch: number;
  readonly date: string;
  /** How many rows the undo has already: they are numbered from one. */
  readonly after: number;
}

async function reverse(session: Session, { target, source, epoch, date, after }: Reversal): Promise<number> {
  const rows = await session.query<{ count: bigint }>(
    `with reversed as (
       insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor, epoch, local_time, first_date, first_source, first_line)
       select restaurant_id, business_date, $5, $7 + row_number() over (order by source_line, restaurant_id), -amount_minor, $6, local_time,
         coalesce(first_date, business_date), coalesce(first_source, source), coalesce(first_line, source_line)
       from sales.sale where business_date = $1 and source = $2 and source_line between $3 and $4
       returning 1
     ) select count(*) as count from reversed`,
    [date, target.source, target.firstLine, target.lastLine, source, epoch, after],
  );
  return Number(rows[0]?.count ?? 0n);
}

/** Each sale that the import has set is what it was before, or nothing. */
async function restoreIdentities(session: Session, { last, hasIds }: Target, undo: bigint): Promise<void> {
  if (!hasIds) return;
  await session.query(
    `insert into sales.identity (hash, import_id, restaurant_id, business_date, amount_minor, first_date, first_source, first_line)
     select it.hash, $2, it.restaurant_id, before.business_date, before.amount_minor, before.first_date, before.first_source, before.first_line
     from sales.identity as it left join lateral (
       select * from sales.identity as before where before.hash = it.hash and before.import_id < it.import_id order by import_id desc limit 1
     ) as before on true where it.import_id = $1`,
    [last, undo],
  );
}

async function sumOf(session: Session, source: string, dates: readonly DateOfRows[]): Promise<Map<string, bigint>> {
  const rows = await session.query<{ currency: string; sum: string }>(
    `select currency, sum(amount_minor)::text as sum from sales.sale join sales.restaurant on restaurant.id = sale.restaurant_id
     where source = $1 and business_date = any($2::date[]) group by currency order by currency`,
    [source, dates.map(({ date }) => date)],
  );
  return new Map(rows.map(({ currency, sum }) => [currency, BigInt(sum)]));
}

interface Remembered extends OfTarget {
  readonly options: UndoOptions;
  readonly reserved: { readonly id: bigint; readonly source: string };
  readonly rows: number;
  readonly sums: ReadonlyMap<string, bigint>;
}

async function remember(session: Session, { target, options, reserved, rows, sums, dates }: Remembered): Promise<void> {
  const { restaurant, feed, name, last } = target;
  const { actor, reason } = options;
  const texts = Object.fromEntries(Array.from(sums, ([currency, minor]) => [currency, String(minor)]));
  const span = { first: dates[0]?.date ?? null, last: dates.at(-1)?.date ?? null };
  const what = [reserved.id, last, restaurant, feed, name, reserved.source, rows, JSON.stringify(texts)];
  await session.query(
    `insert into sales.import (id, undoes, restaurant_id, feed, name, source, first_line, last_line, added, sums, first_date, last_date,
       actor, host, reason)
     values ($1, $2, $3, $4, $5, $6, 1, $7, $7, $8, $9, $10, $11, $12, $13)`,
    [...what, span.first, span.last, actor.name, actor.host, reason],
  );
}
