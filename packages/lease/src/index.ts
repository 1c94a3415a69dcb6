export type { Lease, LeaseKeeper } from "./lease-keeper.ts";
export {
  type LeaseClaim,
  LeaseFault,
  type LeaseFaultCode,
  type LeaseGrant,
  type LeaseSight,
  type LeaseStore,
} from "./lease-store.ts";
