export { type AmountColumns, type AmountReader, compileAmount } from "./amount.ts";
export { BadLines } from "./bad-lines.ts";
export { businessDate, isoDateOf } from "./business-date.ts";
export { type Fingerprint, fingerprintFile } from "./content.ts";
export type { Encoding, FileOptions } from "./csv-file.ts";
export { currencyDigits } from "./currency.ts";
export { compileDateFormat, type DateFormat } from "./date-format.ts";
export { type BadLine, ImportFault, type ImportFaultCode } from "./import-fault.ts";
export { type ImportOptions, type ImportProgress, type ImportResult, importSales } from "./import-sales.ts";
export {
  type Complaint,
  type LineTarget,
  type Load,
  type Loaded,
  loadLines,
  type RestaurantChoice,
} from "./load-lines.ts";
export type { Restaurant, RestaurantOptions } from "./restaurant-store.ts";
export { inTurn } from "./turn.ts";
