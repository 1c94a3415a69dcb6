export { type EtcdLeasesOptions, openEtcdLeases } from "./etcd-leases.ts";
