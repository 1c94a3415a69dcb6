import { InvalidArgumentError } from "@commander-js/extra-typings";
import type { ColumnValue } from "@nightwriter/sales";

/** For an option that may be given several times: `Status=Delivered`. The value may be empty, and have an equals sign. */
export function columnValue(text: string, before: readonly ColumnValue[] | undefined): readonly ColumnValue[] {
  const [column = "", ...rest] = text.split("=");
  if (rest.length > 0 && column.trim() !== "") return [...(before ?? []), { column, value: rest.join("=") }];
  throw new InvalidArgumentError("write it like Status=Delivered: a column, and what it says.");
}
