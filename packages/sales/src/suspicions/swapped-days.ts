/** Dates that could be read with day and month the other way round: all that is said of them is a number of at most twelve. */
import type { Session } from "@nightwriter/database";

const tokens = /'(?:''|[^'])*'|[dMLyu]+|[^']/gu;

/** The same format with day and month exchanged. Undefined: nobody writes it so, or one of them is a name. */
export function swappedFormat(format: string): string | undefined {
  const parts = format.match(tokens) ?? [];
  const dates = parts.filter((part) => /^[dMLyu]+$/u.test(part));
  const [day, month] = [dates.find((part) => part.startsWith("d")), dates.find((part) => /^[ML]/u.test(part))];
  if (day === undefined || month === undefined || /^[yu]/u.test(dates[0] ?? "")) return undefined;
  if (day.length > 2 || month.length > 2) return undefined;
  return parts.map((part) => (part === day ? month : part === month ? day : part)).join("");
}

export interface SwappedDays {
  readonly format: string;
  readonly dates: readonly Temporal.PlainDate[];
  readonly restaurantId: string | null;
  readonly feed: string;
}

/** A warning, unless a day past the twelfth has shown which is which, in this file or in one that was read so before. */
export async function warnOfSwappedDays(
  session: Session,
  { format, dates, restaurantId, feed }: SwappedDays,
): Promise<readonly string[]> {
  const other = swappedFormat(format);
  const isOpen = dates.every(({ day }) => day <= 12) && dates.some(({ day, month }) => day !== month);
  if (other === undefined || !isOpen) return [];
  const [shown] = await session.query(
    `select from sales.import where restaurant_id is not distinct from $1 and feed = $2 and reading ->> '--date-format' = $3
       and (extract(day from first_date) > 12 or extract(day from last_date) > 12) limit 1`,
    [restaurantId, feed, format],
  );
  if (shown !== undefined) return [];
  return [
    `no day is past the twelfth; if day and month are the other way round, say --date-format ${JSON.stringify(other)}`,
  ];
}
