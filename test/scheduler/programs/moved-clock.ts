/** Loaded before the product: this process's wall clock is ahead by as many milliseconds as a file says. Timers are not moved. */
import { readFileSync } from "node:fs";

const file = process.env["TEST_CLOCK_FILE"] ?? "";
const RealDate = Date;
const realInstant = Temporal.Now.instant.bind(Temporal.Now);

function aheadMs(): number {
  return Number(readFileSync(file, "utf8"));
}

class MovedDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(RealDate.now() + aheadMs());
    else super(...(given as [number]));
  }
  static override now(): number {
    return RealDate.now() + aheadMs();
  }
}

const instant = (): Temporal.Instant => realInstant().add({ milliseconds: aheadMs() });

globalThis.Date = MovedDate as DateConstructor;
Object.assign(Temporal.Now, {
  instant,
  zonedDateTimeISO: (zone = "UTC") => instant().toZonedDateTimeISO(zone),
  plainDateISO: (zone = "UTC") => instant().toZonedDateTimeISO(zone).toPlainDate(),
});
