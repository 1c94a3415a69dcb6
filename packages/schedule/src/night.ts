/**
 * Nights are derived from calendar dates, never from ticks: the night of a business date is due on the date after it, at
 * the wall time of the job's cron, whether anybody's clock ticked then or not.
 *
 * On the date when clocks go forward that wall time may not exist: the night is due at the first instant after the gap. On
 * the date when they go back it may exist twice: the first one counts. Either way there is one night per date.
 *
 * A night is never due before its business date is over ({@link endsAt}): the cron's wall time is one of the date after it.
 */
import type { Job } from "@nightwriter/job";
import { cronTimes } from "./cron-times.ts";

/** What of a job says when its nights are. */
export type Nightly = { readonly definition: Pick<Job["definition"], "cron" | "timeZone"> };

/** How far back a night is looked for: further than any cron with a date in it lies apart, but for 29 February. */
const longestPause = { days: 366 };

/** The instant at which the business date is over in the job's zone: the first of the next day that the zone has. Not before it may a night of it be planned. */
export function endsAt({ definition }: Nightly, businessDate: Temporal.PlainDate): Temporal.Instant {
  return businessDate.add({ days: 1 }).toZonedDateTime(definition.timeZone).toInstant();
}

/** The instant from which the night of the business date should exist. Undefined: the cron does not fire on the date after it. */
export function dueAt({ definition }: Nightly, businessDate: Temporal.PlainDate): Temporal.Instant | undefined {
  const { cron, timeZone } = definition;
  const { firesOn, firstTime } = cronTimes(cron);
  const date = businessDate.add({ days: 1 });
  if (!firesOn(date)) return undefined;
  const wall = date.toPlainDateTime(firstTime);
  const zoned = wall.toZonedDateTime(timeZone, { disambiguation: "earlier" });
  if (zoned.toPlainDateTime().equals(wall)) return zoned.toInstant();
  // In a gap, "earlier" is the time before it; where the gap ends is the zone's next transition.
  return (zoned.getTimeZoneTransition("next") ?? zoned).toInstant();
}

/**
 * The business date whose night was due last at the instant: at the instant of a tick, the one that the tick is for.
 * Undefined: none was due in the year before.
 */
export function businessDateOf(job: Nightly, instant: Temporal.Instant): Temporal.PlainDate | undefined {
  let date = localDate(job, instant);
  const earliest = date.subtract(longestPause);
  for (; Temporal.PlainDate.compare(date, earliest) >= 0; date = date.subtract({ days: 1 })) {
    const due = dueAt(job, date);
    if (due !== undefined && Temporal.Instant.compare(due, instant) <= 0) return date;
  }
  return undefined;
}

/** The business dates, ascending, whose night was due after `from` and up to `to`. */
export function expectedNights(job: Nightly, from: Temporal.Instant, to: Temporal.Instant): Temporal.PlainDate[] {
  const nights: Temporal.PlainDate[] = [];
  // Two dates before: a night is due on the date after its own, and a gap can swallow a whole date.
  let date = localDate(job, from).subtract({ days: 2 });
  const last = localDate(job, to);
  for (; Temporal.PlainDate.compare(date, last) <= 0; date = date.add({ days: 1 })) {
    const due = dueAt(job, date);
    if (due === undefined) continue;
    if (Temporal.Instant.compare(due, from) > 0 && Temporal.Instant.compare(due, to) <= 0) nights.push(date);
  }
  return nights;
}

function localDate({ definition }: Nightly, instant: Temporal.Instant): Temporal.PlainDate {
  return instant.toZonedDateTimeISO(definition.timeZone).toPlainDate();
}
