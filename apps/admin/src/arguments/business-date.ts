import { InvalidArgumentError } from "@commander-js/extra-typings";
import { endsAt, type Nightly } from "@nightwriter/schedule";
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

/** However wrong a machine's clock may be: so far ahead, a date is a slip of the pen. */
const farAhead: Temporal.Duration = Temporal.Duration.from({ hours: 366 * 24 });

/**
 * Refuses a date that lies in the future by more than a year, before anything is connected to. What the future is exactly is
 * the database's to say: {@link assertNotFuture}.
 */
export function assertNotFarAhead(date: Temporal.PlainDate, now: Temporal.Instant): void {
  const latest = now.add(farAhead).toZonedDateTimeISO("UTC").toPlainDate();
  if (Temporal.PlainDate.compare(date, latest) > 0) assertNotFuture(date, now);
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
 * Refuses to run the night of a date that is not over in the job's time zone, before any night of a range is planned. The plan
 * itself refuses it too, whoever asks.
 */
export function assertOver(job: Nightly, date: Temporal.PlainDate, now: Temporal.Instant): void {
  const over = endsAt(job, date);
  if (Temporal.Instant.compare(over, now) <= 0) return;
  const { timeZone } = job.definition;
  throw new UsageFault(
    `date ${date.toString()}: is not over in ${timeZone} until ${over.toString()}, and its night would miss what is still sold; ` +
      "run it then, or name restaurants with --restaurant for a run of their own",
    { date: date.toString(), timeZone },
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
