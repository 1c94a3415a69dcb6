/** How values leave the driver: money exactly, dates without a time zone, transaction ids as text. */
import pg from "pg";

type TypeId = Parameters<typeof pg.types.getTypeParser>[0];

const { builtins } = pg.types;
const asText = (value: string): string => value;
const parsers = new Map<number, (value: string) => unknown>([
  [builtins.INT8, BigInt],
  [builtins.DATE, asText],
  [builtins.TIME, asText],
  [builtins.INTERVAL, asText],
]);
/** Splits the text form of any one-dimensional array. */
// oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- text[] is missing from the driver's list of types
const textArray = 1009 as TypeId;
/** The array types of the above that the driver would read otherwise: int8[], date[] and interval[]. */
const arrays = new Map<number, (value: string) => unknown>([
  [1016, BigInt],
  [1182, asText],
  [1187, asText],
]);

export const driverTypes: pg.CustomTypesConfig = {
  getTypeParser(oid: TypeId, format?: "text" | "binary"): (value: string) => unknown {
    const parser = parsers.get(oid);
    if (parser !== undefined && format !== "binary") return parser;
    const each = arrays.get(oid);
    if (each === undefined || format === "binary") return pg.types.getTypeParser(oid, format);
    const split = pg.types.getTypeParser(textArray);
    return (value) => (split(value) as (string | null)[]).map((one) => (one === null ? null : each(one)));
  },
};
