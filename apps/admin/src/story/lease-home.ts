/** Where the leases of a scene live that has no store of its own to break: where the installation has them, or in a Redis. */
import { startRedis } from "@nightwriter/services";

export interface LeaseHome extends AsyncDisposable {
  /** The store's URL, for a scene on this database. Starts a Redis the first time, where none is configured. */
  urlFor(databaseUrl: string): Promise<string>;
  /** The lowest length of a lease that the store can keep, in milliseconds. */
  readonly shortestMs: number;
}

/** etcd counts in seconds, ZooKeeper in ticks of two: what is shorter is longer than it was asked for. */
const SLOW_SCHEMES = /^(?:etcd|zookeeper):/;
const SLOW_SHORTEST_MS = 10_000;

/** `leaseUrl`: what LEASE_URL says; undefined: it is not set, or `none`. */
export function leaseHome(leaseUrl: string | undefined): LeaseHome {
  const own = new AsyncDisposableStack();
  let started: Promise<string> | undefined;
  const startOwn = async (): Promise<string> => own.use(await startRedis()).url;
  return {
    shortestMs: leaseUrl !== undefined && SLOW_SCHEMES.test(leaseUrl) ? SLOW_SHORTEST_MS : 0,
    async urlFor(databaseUrl) {
      if (leaseUrl === undefined) return (started ??= startOwn());
      // Leases in Postgres are rows: they go into the scene's own database, not into the operator's.
      return /^postgres(?:ql)?:/.test(leaseUrl) ? databaseUrl : leaseUrl;
    },
    [Symbol.asyncDispose]: () => own.disposeAsync(),
  };
}
