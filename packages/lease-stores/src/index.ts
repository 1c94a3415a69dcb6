export { type OpenLeaseStoreOptions, openLeaseStore } from "./open-lease-store.ts";
