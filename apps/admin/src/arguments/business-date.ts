import { InvalidArgumentError } from "@commander-js/extra-typings";
import { UsageFault } from "../usage-fault.ts";

const PATTERN = /^(\d{4})-(\d{2})-(\d{2})$/;

/** A calendar day, written YYYY-MM-DD, that exists. */
export function parseBusinessDate(text: string): Temporal.PlainDate {
  const [, year, month, day] = PATTERN.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) {
    throw new InvalidArgumentError("Write it as YYYY-MM-DD.");
  }
  try {
    return Temporal.PlainDate.from({ year, month, day }, { overflow: "reject" });
  } catch {
    throw new InvalidArgumentError("There is no such day.");
  }
}

/** Refuses a date on which no restaurant anywhere can have a sale yet: the earth's first time zone is 14 hours ahead of UTC. */
export function assertNotFuture(date: Temporal.PlainDate, now: Temporal.Instant): void {
  const latest = now.toZonedDateTimeISO("+14:00").toPlainDate();
  if (Temporal.PlainDate.compare(date, latest) <= 0) return;
  throw new UsageFault(
    `date ${date.toString()}: lies in the future; the latest that can have sales is ${latest.toString()}`,
    {
      date: date.toString(),
    },
  );
}

/**
 * Refuses to run the night of a date that is not over in the job's time zone. A night has one item for each restaurant: run
 * too early it would be used up, and the sales that follow would wait for the night after.
 */
export function assertOver(date: Temporal.PlainDate, now: Temporal.ZonedDateTime): void {
  if (Temporal.PlainDate.compare(date, now.toPlainDate()) < 0) return;
  throw new UsageFault(
    `date ${date.toString()}: is not over in ${now.timeZoneId}, and its night would miss what is still sold; ` +
      "run it tomorrow, or name restaurants with --restaurant for a run of their own",
    { date: date.toString(), timeZone: now.timeZoneId },
  );
}

/** Refuses a range that ends before it begins. */
export function assertInOrder(from: Temporal.PlainDate, to: Temporal.PlainDate): void {
  if (Temporal.PlainDate.compare(from, to) > 0) {
    throw new UsageFault(`dates ${from.toString()} to ${to.toString()}: the range ends before it begins; swap them`);
  }
}

/** Every date from the first to the last, both included. Refuses a range that ends before it begins. */
export function datesBetween(from: Temporal.PlainDate, to: Temporal.PlainDate): Temporal.PlainDate[] {
  assertInOrder(from, to);
  const days = from.until(to, { largestUnit: "days" }).days;
  return Array.from({ length: days + 1 }, (_, index) => from.add({ days: index }));
}
