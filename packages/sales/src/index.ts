export type { AmountColumns } from "./amount.ts";
export { businessDate } from "./business-date.ts";
export type { Encoding, FileOptions } from "./csv-file.ts";
export { currencyDigits } from "./currency.ts";
export { type BadLine, ImportFault, type ImportFaultCode } from "./import-fault.ts";
export { type ImportOptions, type ImportProgress, type ImportResult, importSales } from "./import-sales.ts";
export type { RestaurantChoice } from "./load-lines.ts";
export type { RestaurantOptions } from "./restaurant-store.ts";
