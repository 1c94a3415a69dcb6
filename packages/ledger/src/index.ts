export { type ApplyContext, applyItems, maxBatchSize } from "./apply-items.ts";
export { type GuardedWriteValues, guardedWrite, type WrittenRow } from "./guarded-write.ts";
export type { Applied, Item, ItemOutcome, WithdrawnReason } from "./item.ts";
export { type ParkedItem, parkItems } from "./park-items.ts";
