export { openZookeeperLeases, type ZookeeperLeasesOptions } from "./zookeeper-leases.ts";
