/** One line for each scheme: where leases can live, and what opens them there. */
import { type Logger, silentLogger } from "@nightwriter/core";
import { LeaseFault, type LeaseStore, openPostgresLeases } from "@nightwriter/lease";
import { openRedisLeases, openRedlock } from "@nightwriter/lease-redis";
import { optionalPackage } from "./optional-package.ts";

/** Which store, and how this process shows in it. */
export interface OpenLeaseStoreOptions {
  /** What LEASE_URL has, unless that is `none`. Its scheme chooses the store. */
  readonly url: string;
  /** Keeps installations apart in one store: QUEUE_PREFIX. */
  readonly prefix: string;
  /** The length of a lease, in milliseconds. */
  readonly ttlMs: number;
  readonly applicationName: string;
  readonly logger?: Logger;
}

type Open = (options: Required<OpenLeaseStoreOptions>) => Promise<LeaseStore>;

const openEtcd: Open = async (options) => {
  const load = async () => import("@nightwriter/lease-etcd");
  return (await optionalPackage("@nightwriter/lease-etcd", load)).openEtcdLeases(options);
};

const openZookeeper: Open = async (options) => {
  const load = async () => import("@nightwriter/lease-zookeeper");
  return (await optionalPackage("@nightwriter/lease-zookeeper", load)).openZookeeperLeases(options);
};

const stores: Readonly<Record<string, Open>> = {
  postgres: openPostgresLeases,
  postgresql: openPostgresLeases,
  redis: openRedisLeases,
  rediss: openRedisLeases,
  "redis+sentinel": openRedisLeases,
  "redis+cluster": openRedisLeases,
  "redis+redlock": openRedlock,
  etcd: openEtcd,
  zookeeper: openZookeeper,
};

/**
 * Opens the store that the URL's scheme names, on connections of its own. Throws LeaseFault: `lease_url_invalid`, `lease_store_away`, or
 * `lease_store_unfit`, also where a package is not installed that only this store needs.
 */
export async function openLeaseStore(options: OpenLeaseStoreOptions): Promise<LeaseStore> {
  // Not by URL: several hosts are no URL to anybody else.
  const scheme = /^([a-z+]+):\/\//.exec(options.url)?.[1] ?? "";
  const open = Object.hasOwn(stores, scheme) ? stores[scheme] : undefined;
  if (open === undefined) {
    const known = Object.keys(stores).join(", ");
    throw new LeaseFault("lease_url_invalid", `URL of the lease store: no scheme that is known; use one of ${known}`, {
      details: { scheme },
    });
  }
  return open({ ...options, logger: options.logger ?? silentLogger });
}
