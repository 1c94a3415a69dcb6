export { type BadLine, ImportFault, type ImportFaultCode } from "./import-fault.ts";
export { type AmountColumns, type AmountReader, compileAmount } from "./read/amount.ts";
export { businessDate, isoDateOf } from "./read/business-date.ts";
export { type Fingerprint, fingerprintFile } from "./read/content.ts";
export type { Encoding, FileOptions } from "./read/csv-file.ts";
export { currencyDigits } from "./read/currency.ts";
export { compileDateFormat, type DateFormat } from "./read/date-format.ts";
export type { ColumnValue } from "./read/row-filter.ts";
export type { DateColumns } from "./read/sale-date.ts";
export { BadLines } from "./record/bad-lines.ts";
export type { ImportLook, ImportOptions, ImportProgress, ImportResult } from "./record/import-options.ts";
export { importSales } from "./record/import-sales.ts";
export {
  type Complaint,
  type LineTarget,
  type Load,
  type Loaded,
  loadLines,
  type RestaurantChoice,
} from "./record/load-lines.ts";
export { inTurn } from "./record/turn.ts";
export type { Restaurant, RestaurantOptions } from "./restaurants/restaurant-store.ts";
export { salesSchema } from "./schema-list.ts";
