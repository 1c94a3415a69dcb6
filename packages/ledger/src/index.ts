export { type ApplyContext, applyItems, maxBatchSize } from "./apply-items.ts";
export { type GuardedWriteValues, guardedWrite, type WrittenRow } from "./guarded-write.ts";
export type { Applied, Item, ItemOutcome, WithdrawnReason } from "./item.ts";
export { type HistoryEntry, type KeyHistory, keyHistory } from "./key-history.ts";
export { type ParkAnswer, type ParkedItem, type ParkRequest, parkItems } from "./park-items.ts";
export type { Outstanding, OutstandingReason, OutstandingSum } from "./rules/outstanding.ts";
export { describeViolation, type RuleName, type Violation } from "./rules/rule.ts";
export { type VerifyOptions, type VerifyProgress, verify } from "./verify.ts";
export type { EpochReport, RuleReport, StepReport, VerifyReport } from "./verify-report.ts";
