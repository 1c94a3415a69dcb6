/** What looks as if it were not meant: refused, if it would change a total; otherwise a warning. */
import type { Session } from "@nightwriter/database";
import type { Acceptance } from "../acceptances.ts";
import { doubt } from "../doubt.ts";
import type { ReadLine } from "../record/import-options.ts";
import type { Restaurant } from "../restaurants/restaurant-store.ts";
import { assertMeantRestaurants } from "./new-restaurants.ts";
import { assertNotAnothers } from "./other-restaurant.ts";
import { type SumLine, SumLines, type SummedLine } from "./sum-lines.ts";
import { warnOfSwappedDays } from "./swapped-days.ts";
import { UnusedColumns } from "./unused-columns.ts";

export interface SuspicionOptions {
  /** What messages call the file. */
  readonly name: string;
  readonly accepted: ReadonlySet<Acceptance>;
  readonly hasIds: boolean;
  readonly format: { readonly text: string; readonly hasTime: boolean };
  /** The lines do not say their date, which is a business date. */
  readonly isDated: boolean;
  /** The column that says whose line it is, if one does. */
  readonly restaurantColumn: string | undefined;
  readonly restaurantId: string | null;
  readonly feed: string;
  /** The latest day that has begun anywhere, in days since 1970. */
  readonly today: number;
}

/** What the lines were read as. */
export interface Recorded {
  readonly rows: { readonly first: readonly ReadLine[]; readonly businessDates: readonly Temporal.PlainDate[] };
  readonly restaurantsCreated: number;
  /** Business dates that had sales before. */
  readonly datesBefore: ReadonlySet<string>;
}

/** The day that it is where days begin first. */
export async function findToday(session: Session): Promise<number> {
  const rows = await session.query<{ day: number }>(
    "select ((now() at time zone 'UTC') + interval '14 hours')::date - date '1970-01-01' as day",
  );
  return rows[0]?.day ?? Number.POSITIVE_INFINITY;
}

/** Sees each sale as it is read, and says at the end what is suspicious. */
export class Suspicions {
  readonly columns: UnusedColumns;
  readonly #options: SuspicionOptions;
  readonly #sums: SumLines;
  #lines = 0;
  #future: { count: number; readonly line: number } | undefined;
  #cutoffRestaurant: string | undefined;

  constructor(options: SuspicionOptions) {
    const { hasTime } = options.format;
    this.#options = options;
    this.#sums = new SumLines({ hasIds: options.hasIds, hasTime });
    this.columns = new UnusedColumns({ hasTime });
  }

  take(sale: SummedLine, { id, clocks }: Restaurant): void {
    this.#lines += 1;
    this.#sums.take(sale);
    if (sale.day > this.#options.today) {
      if (this.#future === undefined) this.#future = { count: 1, line: sale.line };
      else this.#future.count += 1;
    }
    const { format, isDated } = this.#options;
    if (!format.hasTime && !isDated && clocks[0].cutoffMs > 0) this.#cutoffRestaurant ??= id;
  }

  /** Returns warnings. Throws ImportFault `in_doubt`, SqlFault. */
  async settle(session: Session, { rows, restaurantsCreated, datesBefore }: Recorded): Promise<readonly string[]> {
    const { format, restaurantId, feed } = this.#options;
    if (restaurantsCreated > 0) await assertMeantRestaurants(session, this.#options);
    await assertNotAnothers(session, { ...this.#options, lines: rows.first, datesBefore });
    this.#assertNoSums();
    const future = this.#assertNotAllFuture();
    const swapped = await warnOfSwappedDays(session, {
      format: format.text,
      dates: rows.businessDates,
      restaurantId,
      feed,
    });
    const cutoff =
      this.#cutoffRestaurant === undefined
        ? []
        : [
            `the date format has no time of day, so the cutoff of ${JSON.stringify(this.#cutoffRestaurant)} moves no sale to the date before`,
          ];
    return [...this.columns.warnings, ...future, ...swapped, ...cutoff];
  }

  #assertNoSums(): void {
    const { name, accepted, restaurantColumn } = this.#options;
    const [first, ...others] = this.#sums.found;
    if (first === undefined) return;
    const more = others.length === 0 ? "" : `, and so are ${others.length} more, as line ${others[0]?.line}`;
    doubt(accepted, ["sums-ok"], {
      text: `${name}: line ${first.line} is the sum of ${first.of} others, as a total is${more}; it would count them twice`,
      instead: [leavingOut(first, restaurantColumn)],
      details: { file: name, line: first.line, lines: others.length + 1 },
    });
  }

  #assertNotAllFuture(): readonly string[] {
    const { name, accepted } = this.#options;
    if (this.#future === undefined) return [];
    const { count, line } = this.#future;
    if (count === this.#lines) {
      doubt(accepted, ["future-ok"], {
        text: `${name}: all its dates are in the future, the first in line ${line}`,
        instead: ["say --date-format as the dates are written"],
        details: { file: name, line },
      });
    }
    return [
      count === 1
        ? `line ${line} has a date in the future`
        : `${count} lines have dates in the future, the first is line ${line}`,
    ];
  }
}

function leavingOut({ restaurant }: SumLine, restaurantColumn: string | undefined): string {
  if (restaurantColumn === undefined) return "leave it out with --except, by what a column says of it";
  return `leave it out: --except ${JSON.stringify(`${restaurantColumn}=${restaurant}`)}`;
}
