/** Dates that follow one another. */
export interface DateSpan {
  readonly first: Temporal.PlainDate;
  readonly last: Temporal.PlainDate;
  readonly count: number;
}

/** Ascending dates as spans without a gap. */
export function spansOf(dates: readonly Temporal.PlainDate[]): DateSpan[] {
  const spans: DateSpan[] = [];
  for (const date of dates) {
    const before = spans.at(-1);
    if (before !== undefined && before.last.add({ days: 1 }).equals(date)) {
      spans[spans.length - 1] = { first: before.first, last: date, count: before.count + 1 };
    } else {
      spans.push({ first: date, last: date, count: 1 });
    }
  }
  return spans;
}
