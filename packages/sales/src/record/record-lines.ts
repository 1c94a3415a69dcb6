/** What becomes of the lines of a file, once all of them were read: recorded straight, as a surplus, or by their ids. */
import type { Session } from "@nightwriter/database";
import type { Acceptance } from "../acceptances.ts";
import { name } from "../read/content.ts";
import type { ImportOptions } from "./import-options.ts";
import { assertNoneAlike } from "./overlaps.ts";
import { type RecordedById, recordById } from "./record-by-id.ts";
import { recordSurplus } from "./record-surplus.ts";
import type { SaleRows } from "./sale-rows.ts";
import { indexStaging } from "./staging.ts";

/** An import that is under way. */
export interface Recording {
  readonly id: bigint;
  readonly source: string;
  readonly options: ImportOptions;
  readonly epoch: number;
  readonly knownLines: number;
  readonly isStaged: boolean;
}

export interface Read {
  readonly lines: number;
  readonly rows: SaleRows;
  /** Business dates that had sales before this import. */
  readonly datesBefore: ReadonlySet<string>;
}

/** What has become of the lines that were read, once each is a sale that counts once. */
export async function recordLines(
  session: Session,
  { id, source, options, epoch, isStaged }: Recording,
  { lines, rows, datesBefore }: Read,
): Promise<RecordedById> {
  const { file, feed = "", idColumns = [], accept = new Set<Acceptance>() } = options;
  const dates = rows.businessDates.map(String).filter((date) => datesBefore.has(date));
  const none = { known: 0, corrected: 0, adopted: 0, repeated: 0 };
  if (!isStaged) {
    const pairing = { lines: ownLines, source, except: [], feed, isWithoutId: false, isKept: false };
    await assertNoneAlike(session, { name: name(file), dates, accepted: accept, pairing });
    return { ...none, added: lines };
  }
  await indexStaging(session);
  if (idColumns.length === 0) {
    const added = await recordSurplus(session, { source, epoch, feed, dates });
    return { ...none, added, known: lines - added };
  }
  const { newest } = rows;
  return recordById(session, { name: name(file), importId: id, source, epoch, feed, dates, newest, accepted: accept });
}

const ownLines =
  "select source_line as line, restaurant_id, amount_minor, local_time from sales.sale where business_date = $1 and source = $2";

/** What the rows of this import come to: those of a file that grew are the later ones of its source. */
export async function sumRecorded(
  session: Session,
  { source, knownLines }: Recording,
): Promise<{ sums: Map<string, bigint>; businessDates: Temporal.PlainDate[] }> {
  const rows = await session.query<{ currency: string; date: string; sum: string }>(
    `select currency, business_date::text as date, sum(amount_minor)::text as sum
     from sales.sale join sales.restaurant on restaurant.id = sale.restaurant_id
     where source = $1 and source_line > $2 and business_date in (
       select business_date from pg_temp.staged union select was_date from pg_temp.current)
     group by currency, business_date order by business_date`,
    [source, knownLines],
  );
  const sums = new Map<string, bigint>();
  for (const { currency, sum } of rows) sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(sum));
  const dates = [...new Set(rows.map(({ date }) => date))];
  return { sums, businessDates: dates.map((date) => Temporal.PlainDate.from(date)) };
}
