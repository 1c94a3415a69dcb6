import type { Session } from "@nightwriter/database";
import { pairLines } from "./pair-lines.ts";
import { inSlices } from "./staging.ts";

export interface Surplus {
  readonly source: string;
  readonly epoch: number;
  readonly feed: string;
  /** Of the file, those that had sales before. */
  readonly dates: readonly string[];
}

/** Records the staged lines that no recorded sale looks like, each sale taken for one line at most. Returns how many. */
export async function recordSurplus(session: Session, { source, epoch, feed, dates }: Surplus): Promise<number> {
  const pairing = { lines: stagedLines, source, except: [], feed, isWithoutId: false, isKept: true };
  for (const date of dates) await pairLines(session, date, pairing);
  return inSlices(
    session,
    `insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor, epoch, local_time)
     select restaurant_id, business_date, $3, line, amount_minor, $4, local_time from pg_temp.staged
     where line between $1 and $2 and line not in (select line from pg_temp.pair)`,
    [source, epoch],
  );
}

const stagedLines = "select line, restaurant_id, amount_minor, local_time from pg_temp.staged where business_date = $1";
