export type { Lease, LeaseKeeper } from "./lease-keeper.ts";
export { type LeaseFacts, type LeaseLengths, type LeasePlan, planLease } from "./lease-plan.ts";
export { measureRuns, type RunHistory, type RunHistoryOptions } from "./lease-plan-history.ts";
export {
  type LeaseClaim,
  LeaseFault,
  type LeaseFaultCode,
  type LeaseGrant,
  type LeaseSight,
  type LeaseStore,
} from "./lease-store.ts";
