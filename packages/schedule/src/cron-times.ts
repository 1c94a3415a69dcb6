import { invariant } from "@nightwriter/core";
import { createTask, parse, validate } from "node-cron";

/** On which calendar dates a cron expression fires, and at which wall time first. It knows no time zone. */
export interface CronTimes {
  /** The earliest of its times of day. */
  readonly firstTime: Temporal.PlainTime;
  readonly firesOn: (date: Temporal.PlainDate) => boolean;
}

const known = new Map<string, CronTimes>();

/**
 * Reads the expression with node-cron's own parser, so that the hint and the list of nights mean the same by it. It is
 * evaluated in UTC, where every wall time exists once. Throws InvariantError for what is no cron expression: it
 * stands in a job's definition.
 */
export function cronTimes(cron: string): CronTimes {
  const found = known.get(cron) ?? readCron(cron);
  known.set(cron, found);
  return found;
}

function readCron(cron: string): CronTimes {
  invariant(validate(cron), `cron ${cron}: is no cron expression`);
  const { hour, minute, second } = parse(cron);
  const firstTime = Temporal.PlainTime.from({
    hour: Math.min(...hour),
    minute: Math.min(...minute),
    second: Math.min(...second),
  });
  const task = createTask(cron, () => undefined, { timezone: "UTC" });
  // Out of node-cron's registry of tasks; it still matches.
  void task.destroy();
  const firesOn = (date: Temporal.PlainDate): boolean =>
    task.match(new Date(date.toZonedDateTime({ timeZone: "UTC", plainTime: firstTime }).epochMilliseconds));
  return { firstTime, firesOn };
}
