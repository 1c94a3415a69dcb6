/**
 * The local calendar day that a sale belongs to: the time on the restaurant's wall clock minus its cutoff, then the date.
 *
 * The cutoff is taken off the wall time and not off the instant: on the night when clocks go forward, 04:30 on the wall is
 * three and a half hours after midnight, and four hours earlier is the day before.
 */

/** The business date of a local time. A restaurant with a cutoff of 04:00 counts 03:59 to the day before. */
export function businessDate(local: Temporal.PlainDateTime, cutoff: Temporal.PlainTime): Temporal.PlainDate {
  return local.subtract(Temporal.PlainTime.from("00:00").until(cutoff)).toPlainDate();
}

const dayMs = 86_400_000;
const firstDay: Temporal.PlainDate = Temporal.PlainDate.from("1970-01-01");

/** The same in numbers, for a million lines: days since 1970-01-01, from a wall time and a cutoff in milliseconds. */
export function businessDay(wallMs: number, cutoffMs: number): number {
  return Math.floor((wallMs - cutoffMs) / dayMs);
}

/** The wall time of an instant in a zone, in milliseconds as if the wall stood in UTC. */
export function wallMsOf(instantMs: number, zone: string): number {
  const wall = Temporal.Instant.fromEpochMilliseconds(instantMs).toZonedDateTimeISO(zone).toPlainDateTime();
  return wall.toZonedDateTime("UTC").epochMilliseconds;
}

/** Days since 1970-01-01 of a date written YYYY-MM-DD. */
export function dayOf(date: string): number {
  return firstDay.until(Temporal.PlainDate.from(date), { largestUnit: "days" }).days;
}

/** A day since 1970-01-01 as YYYY-MM-DD. */
export function isoDateOf(day: number): string {
  return firstDay.add({ days: day }).toString();
}
