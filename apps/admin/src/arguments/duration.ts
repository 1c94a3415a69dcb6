import { InvalidArgumentError } from "@commander-js/extra-typings";

const PATTERN = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h)$/;

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

const DAY_MS = 86_400_000;

/** `30s`, `400ms`, `10m`, `1h`, `1.5s`: whole milliseconds, more than none and at most a day. */
export function parseDuration(text: string): number {
  const [, number, unit = ""] = PATTERN.exec(text) ?? [];
  if (number === undefined) throw new InvalidArgumentError("Write it as 400ms, 30s, 10m or 1h.");
  // Rounded: 1.005 times 1,000 is a little less than 1,005 in binary.
  const ms = Math.round(Number(number) * (unitMs[unit] ?? 0));
  if (ms < 1 || ms > DAY_MS) throw new InvalidArgumentError("It is between 1ms and 24h.");
  return ms;
}
