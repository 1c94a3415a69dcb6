/**
 * Recording lines that have an id. A sale that was imported before is known by it, whatever file it stands in and wherever: the same is
 * nothing, another amount or date is corrected by further rows that point to the first one. Every state that an import leaves a sale in
 * is a row of sales.identity; the last import's holds.
 */
import type { Session } from "@nightwriter/database";
import type { Acceptance } from "../acceptances.ts";
import { doubt } from "../doubt.ts";
import { ImportFault } from "../import-fault.ts";
import { describePairs } from "./overlaps.ts";
import { isAlike, type Paired, pairLines } from "./pair-lines.ts";
import { inSlices } from "./staging.ts";

export interface ById {
  readonly name: string;
  readonly importId: bigint;
  readonly source: string;
  readonly epoch: number;
  readonly feed: string;
  /** Of the file, those that had sales before. */
  readonly dates: readonly string[];
  /** The latest local time of the file. */
  readonly newest: string | undefined;
  readonly accepted: ReadonlySet<Acceptance>;
}

export interface RecordedById {
  readonly added: number;
  /** Sales that were there already as the file has them. */
  readonly known: number;
  readonly corrected: number;
  /** Of the known ones: recorded without an id before, and known by theirs from now on. */
  readonly adopted: number;
  /** Lines that repeat the amount of an id. */
  readonly repeated: number;
}

/** Throws ImportFault `in_doubt`, SqlFault. */
export async function recordById(session: Session, options: ById): Promise<RecordedById> {
  const repeated = await dropRepeats(session, options);
  await findCurrent(session);
  const adopted = await pairUnknown(session, options);
  await assertMayCorrect(session, options);
  const added = await addNew(session, options);
  await adopt(session, options);
  const corrected = await correct(session, options);
  const [row] = await session.query<{ current: bigint }>("select count(*) as current from pg_temp.current");
  return { added, known: Number(row?.current ?? 0n) - corrected + adopted, corrected, adopted, repeated };
}

/** Which imports this one has built on: they are undone after it. */
export async function rememberNeeds(session: Session, importId: bigint): Promise<void> {
  await session.query(
    `insert into sales.import_need (import_id, needs_id)
     select $1, needed.id from (
       select distinct import_id as id from pg_temp.current
       union
       select (select min(import.id) from sales.import where import.source = pair.first_source)
       from (select distinct first_source from pg_temp.pair) as pair
     ) as needed where needed.id is not null and needed.id <> $1`,
    [importId],
  );
}

async function dropRepeats(session: Session, { name, accepted }: ById): Promise<number> {
  const [found] = await session.query<{ ids: bigint; lines: bigint; line: bigint | null; differs: boolean | null }>(
    `select count(*) as ids, coalesce(sum(lines), 0)::bigint as lines, min(line) as line, bool_or(differs) as differs from (
       select count(*) as lines, min(line) as line, count(distinct (amount_minor, business_date)) > 1 as differs
       from pg_temp.staged group by hash having count(*) > 1
     ) as repeats`,
  );
  if (found === undefined || found.ids === 0n) return 0;
  const fact = `${name}: ${found.lines} lines share ${found.ids === 1n ? "one id" : `${found.ids} ids`}, the first is line ${found.line}`;
  const instead = "add the column that tells its lines apart: a second --id-column";
  if (found.differs === true) {
    throw new ImportFault(
      "in_doubt",
      `${fact}, with different amounts or dates; nothing was recorded. If they are parts of an order, ${instead}`,
      {
        details: { file: name, line: found.line ?? 0n },
      },
    );
  }
  doubt(accepted, ["once-per-id"], {
    text: `${fact}, with the same amount`,
    instead: [instead],
    details: { file: name },
  });
  await session.query(
    `delete from pg_temp.staged using (select hash, min(line) as line from pg_temp.staged group by hash having count(*) > 1) as first
     where staged.hash = first.hash and staged.line <> first.line`,
  );
  return Number(found.lines - found.ids);
}

async function findCurrent(session: Session): Promise<void> {
  await inSlices(
    session,
    `insert into pg_temp.current
     select line, now.import_id, now.business_date, now.amount_minor, now.first_date, now.first_source, now.first_line
     from pg_temp.staged cross join lateral (
       select * from sales.identity where identity.hash = staged.hash order by import_id desc limit 1
     ) as now where line between $1 and $2 and now.amount_minor is not null`,
  );
  await session.query("analyze pg_temp.current");
}

/** Lines without a known id beside sales that were recorded without one. Returns how many are taken for the same. */
async function pairUnknown(session: Session, { name, source, feed, dates, accepted }: ById): Promise<number> {
  if (accepted.has("all-new")) return 0;
  const lines = `select line, restaurant_id, amount_minor, local_time from pg_temp.staged
    where business_date = $1 and line not in (select line from pg_temp.current)`;
  const found: Paired[] = [];
  for (const date of dates) {
    found.push(
      ...(await pairLines(session, date, { lines, source, except: [], feed, isWithoutId: true, isKept: true })),
    );
  }
  const unlike = found.filter((each) => !isAlike(each));
  if (unlike.length > 0) {
    doubt(accepted, ["adopt", "all-new"], {
      text: `${name}: ${describePairs(unlike)} look like sales that were recorded without an id`,
      details: { file: name },
    });
  }
  return found.reduce((sum, { paired }) => sum + paired, 0);
}

const differing = `from pg_temp.current join pg_temp.staged using (line)
  where (was_amount, was_date) is distinct from (amount_minor, business_date)`;

async function assertMayCorrect(session: Session, { name, newest, accepted }: ById): Promise<void> {
  const [found] = await session.query<{ newer: bigint; by: string | null; closed: string | null }>(
    `select count(*) filter (where import.newest > $1::timestamp) as newer,
       min(import.name) filter (where import.newest > $1::timestamp) as by,
       min(least(was_date, business_date)) filter (where least(was_date, business_date) <= (select max(closed_through) from nightwriter.job))::text as closed
     ${differing.replace("where", "left join sales.import on import.id = current.import_id where")}`,
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

async function addNew(session: Session, { source, epoch, importId }: ById): Promise<number> {
  const added = await inSlices(
    session,
    `insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor, epoch, local_time)
     select restaurant_id, business_date, $3, line, amount_minor, $4, local_time from pg_temp.staged
     where line between $1 and $2 and ${isNew}`,
    [source, epoch],
  );
  await inSlices(
    session,
    `insert into sales.identity (hash, import_id, restaurant_id, business_date, amount_minor, first_date, first_source, first_line)
     select hash, $4, restaurant_id, business_date, amount_minor, business_date, $3, line from pg_temp.staged
     where line between $1 and $2 and ${isNew}`,
    [source, importId],
  );
  return added;
}

async function adopt(session: Session, { importId }: ById): Promise<void> {
  await inSlices(
    session,
    `insert into sales.identity (hash, import_id, restaurant_id, business_date, amount_minor, first_date, first_source, first_line)
     select hash, $3, staged.restaurant_id, staged.business_date, amount_minor, first_date, first_source, first_line
     from pg_temp.pair join pg_temp.staged using (line) where line between $1 and $2`,
    [importId],
  );
}

/** A correction has the line number of the file that made it. One that moves the date is two rows, one on each date. */
async function correct(session: Session, { source, epoch, importId }: ById): Promise<number> {
  await inSlices(
    session,
    `insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor, epoch, local_time, first_date, first_source, first_line)
     select staged.restaurant_id, change.business_date, $3, line, change.amount_minor, $4, local_time, first_date, first_source, first_line
     from pg_temp.current join pg_temp.staged using (line) cross join lateral (
       select staged.business_date, staged.amount_minor - was_amount as amount_minor where was_date = staged.business_date
       union all select was_date, -was_amount where was_date <> staged.business_date
       union all select staged.business_date, staged.amount_minor where was_date <> staged.business_date
     ) as change
     where line between $1 and $2 and (was_amount, was_date) is distinct from (staged.amount_minor, staged.business_date)`,
    [source, epoch],
  );
  return inSlices(
    session,
    `insert into sales.identity (hash, import_id, restaurant_id, business_date, amount_minor, first_date, first_source, first_line)
     select hash, $3, restaurant_id, business_date, amount_minor, first_date, first_source, first_line ${differing}
     and line between $1 and $2`,
    [importId],
  );
}
