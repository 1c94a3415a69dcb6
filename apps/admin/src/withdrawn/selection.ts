import type { Selection } from "@nightwriter/withdrawal";

/** What says which withdrawn items are meant, as it was typed. */
export interface SelectionOptions {
  readonly key?: readonly string[] | undefined;
  readonly date?: Temporal.PlainDate | undefined;
  readonly sqlstate?: readonly string[] | undefined;
}

export function selectionOf({ key, date, sqlstate }: SelectionOptions): Selection {
  return { keys: key, businessDates: date === undefined ? undefined : [date], sqlstates: sqlstate };
}
