export { createLeaseKeeper, type Lease, type LeaseKeeper, type LeaseKeeperOptions } from "./lease-keeper.ts";
export { createLeaseObstacle, type LeaseObstacle, toleranceMs } from "./lease-obstacle.ts";
export { type LeaseFacts, type LeaseLengths, type LeasePlan, planLease } from "./lease-plan.ts";
export { measureRuns, type RunHistory, type RunHistoryOptions } from "./lease-plan-history.ts";
export {
  type LeaseClaim,
  LeaseFault,
  type LeaseFaultCode,
  type LeaseGrant,
  type LeaseSight,
  type LeaseStore,
  nobodysLease,
} from "./lease-store.ts";
export { openPostgresLeases, type PostgresLeasesOptions } from "./postgres-leases.ts";
export { parseServerList, type ServerAddress, type ServerList } from "./server-list.ts";
