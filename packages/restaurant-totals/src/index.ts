export { type OpenOptions, type OpenResult, openTotals } from "./open-totals.ts";
export { restaurantTotals } from "./restaurant-totals.ts";
export { schemaLists } from "./schema-lists.ts";
