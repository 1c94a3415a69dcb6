/** What becomes of the lines of a file, once all of them were read: recorded straight, or after they were compared. */
import type { Session } from "@nightwriter/database";
import type { Acceptance } from "../acceptances.ts";
import { name } from "../read/content.ts";
import { assertSameIds } from "./id-columns.ts";
import type { ImportOptions } from "./import-options.ts";
import type { KnownContent } from "./known-content.ts";
import { assertNoneAlike } from "./overlaps.ts";
import { assertReadOnce, findPlaces } from "./places.ts";
import { idColumnsOf, type Reading } from "./reading.ts";
import { type RecordedLines, recordStaged } from "./record-staged.ts";
import type { SaleRows } from "./sale-rows.ts";
import { indexStaging } from "./staging.ts";

/** An import that is under way. */
export interface Recording {
  readonly id: bigint;
  readonly source: string;
  readonly options: ImportOptions;
  readonly reading: Reading;
  readonly content: KnownContent;
  readonly epoch: number;
  readonly isStaged: boolean;
}

export interface Read {
  readonly lines: number;
  /** Lines that the filter left out. */
  readonly leftOut: number;
  readonly rows: SaleRows;
  /** Business dates that had sales before this import. */
  readonly datesBefore: ReadonlySet<string>;
}

/** What has become of the lines that were read, once each is a sale that counts once. */
export async function recordLines(session: Session, recording: Recording, read: Read): Promise<RecordedLines> {
  const { id, source, options, reading, content, epoch, isStaged } = recording;
  const { lines, leftOut, rows, datesBefore } = read;
  const { file, feed = "", idColumns = [], accept = new Set<Acceptance>() } = options;
  const hasIds = idColumns.length > 0;
  const lineDates = rows.businessDates.map(String);
  const dates = lineDates.filter((date) => datesBefore.has(date));
  const { known, otherwise } = content;
  const own = await findPlaces(session, known === undefined ? [] : [known.by], datesBefore);
  // Where both have ids, these tell what was recorded; where only this one has, its lines do.
  const withoutId = otherwise.filter((each) => idColumnsOf(each.reading).length === 0);
  const others = await findPlaces(session, withoutId, datesBefore);
  const common = { name: name(file), source, dates, accepted: accept };
  await assertSameIds(session, { ...common, scope: content.scope, reading, dates: lineDates });
  if (isStaged) await indexStaging(session, { leftOut });
  if (!hasIds) {
    const all = { reading, otherwise, recordedDates: datesBefore, lineDates };
    await assertReadOnce(session, { ...common, ...all, lines: isStaged ? stagedLines : ownLines });
  }
  if (isStaged) {
    const staged = { importId: id, epoch, feed, hasIds, newest: rows.newest, own, otherwise: others };
    const all = leftOut > 0 ? await findRecordedAmong(session, datesBefore) : dates;
    return recordStaged(session, { ...common, ...staged, dates: all, half: known?.half });
  }
  const except = [...own.sources, ...others.sources];
  const pairing = { lines: ownLinesOfDate, source, except, feed, isWithoutId: false, isKept: false };
  await assertNoneAlike(session, { ...common, pairing });
  return { added: lines, known: 0, corrected: 0, adopted: 0, takenBack: 0, repeated: 0 };
}

/** Of the dates that have sales, those of the lines, whether they are kept or left out. */
async function findRecordedAmong(session: Session, dates: ReadonlySet<string>): Promise<string[]> {
  const rows = await session.query<{ date: string }>(
    "select business_date::text as date from pg_temp.staged union select business_date::text from pg_temp.left_out order by date",
  );
  return rows.map(({ date }) => date).filter((date) => dates.has(date));
}

const ownLinesOfDate =
  "select source_line as line, restaurant_id, amount_minor, local_time from sales.sale where business_date = $1 and source = $2";
const ownLines = "select source_line from sales.sale where source = $1 and business_date = any($2::date[])";
const stagedLines = "select line as source_line from pg_temp.staged where $1 <> '' and business_date = any($2::date[])";

/** What the rows of this import come to. */
export async function sumRecorded(
  session: Session,
  { source }: Recording,
): Promise<{ sums: Map<string, bigint>; businessDates: Temporal.PlainDate[] }> {
  const rows = await session.query<{ currency: string; date: string; sum: string }>(
    `select currency, business_date::text as date, sum(amount_minor)::text as sum
     from sales.sale join sales.restaurant on restaurant.id = sale.restaurant_id
     where source = $1 and business_date in (
       select business_date from pg_temp.staged union select was_date from pg_temp.current union select was_date from pg_temp.taken)
     group by currency, business_date order by business_date`,
    [source],
  );
  const sums = new Map<string, bigint>();
  for (const { currency, sum } of rows) sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(sum));
  const dates = [...new Set(rows.map(({ date }) => date))];
  return { sums, businessDates: dates.map((date) => Temporal.PlainDate.from(date)) };
}
