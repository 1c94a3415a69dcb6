/** Which business dates may be planned now: those that are open and over. */
import { endsAt, type Nightly } from "@nightwriter/schedule";
import type { Planning } from "./planning.ts";
import { RunFault } from "./run-fault.ts";

/** Whether the date is behind `closed_through`. */
export function isClosed({ closedThrough }: Planning, businessDate: string): boolean {
  return closedThrough !== undefined && businessDate <= closedThrough;
}

/** Throws a RunFault if the date is behind `closed_through`. */
export function assertOpen(frame: Planning, businessDate: string): void {
  if (!isClosed(frame, businessDate)) return;
  const { job, closedThrough } = frame;
  throw new RunFault(
    "business_date_closed",
    `job ${job.definition.name}: ${businessDate} is closed, as is every date up to ${closedThrough}; nothing was planned`,
    { details: { job: job.definition.name, businessDate, closedThrough } },
  );
}

/**
 * Throws a RunFault if the date is not over in the job's zone. A run has one item for each key, and applies it once: planned
 * too early it would be used up, and what is still sold would wait for a later night.
 */
export function assertOver(
  { job }: Pick<Planning, "job">,
  businessDate: Temporal.PlainDate,
  now: Temporal.Instant,
): void {
  const over = endsAt(job, businessDate);
  if (Temporal.Instant.compare(over, now) <= 0) return;
  refuse(job.definition, {
    businessDate,
    now,
    fact: `is not over in ${job.definition.timeZone} until ${over.toString()}`,
    remedy: "run it then, or name keys for a run of their own",
  });
}

/** Throws a RunFault if the date has not begun anywhere on earth: the first time zone is 14 hours ahead of UTC. For named keys. */
export function assertBegun(
  { job }: Pick<Planning, "job">,
  businessDate: Temporal.PlainDate,
  now: Temporal.Instant,
): void {
  const latest = now.toZonedDateTimeISO("+14:00").toPlainDate();
  if (Temporal.PlainDate.compare(businessDate, latest) <= 0) return;
  refuse(job.definition, {
    businessDate,
    now,
    fact: "lies in the future",
    remedy: `the latest that can have sales is ${latest.toString()}`,
  });
}

type Refusal = {
  readonly businessDate: Temporal.PlainDate;
  readonly now: Temporal.Instant;
  readonly fact: string;
  readonly remedy: string;
};

function refuse(
  { name }: Nightly["definition"] & { name: string },
  { businessDate, now, fact, remedy }: Refusal,
): never {
  const date = businessDate.toString();
  throw new RunFault(
    "business_date_not_over",
    `job ${name}: ${date} ${fact}, and by the database's clock it is ${now.toString()}; nothing was planned: ${remedy}`,
    { details: { job: name, businessDate: date, now: now.toString() } },
  );
}
