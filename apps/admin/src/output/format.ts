/** Numbers and times as people read them, the same on every machine whatever its locale. */

const counts = new Intl.NumberFormat("en");

/** `12,500` */
export function formatCount(count: number | bigint): string {
  return counts.format(count);
}

/** `4,700`, and below ten `0.6`: what is slow is not nothing. */
export function formatRate(perSecond: number): string {
  return perSecond > 0 && perSecond < 9.95 ? perSecond.toFixed(1) : formatCount(Math.round(perSecond));
}

/** `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min` */
export function formatDuration(ms: number): string {
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 2_880) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.round(minutes / 1_440)} d`;
}

/** `1 restaurant`, `2 restaurants` */
export function plural(count: number | bigint, noun: string, nouns = `${noun}s`): string {
  return `${formatCount(count)} ${BigInt(count) === 1n ? noun : nouns}`;
}

/** `2026-03-29 03:30:04Z`: to the second, in UTC, whatever the machine's zone. */
export function formatInstant(instant: Temporal.Instant): string {
  return instant.toString({ smallestUnit: "second" }).replace("T", " ");
}
