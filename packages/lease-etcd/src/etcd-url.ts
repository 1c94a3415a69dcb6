/** Where etcd is: `etcd://[user:password@]host[:port][,host[:port]…]`. */
import { LeaseFault, parseServerList, type ServerList } from "@nightwriter/lease";

/** Throws LeaseFault `lease_url_invalid`, which does not repeat the URL: there may be a password in it. */
export function parseEtcdUrl(url: string): ServerList {
  const [, userInfo, list = ""] = /^etcd:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/?$/.exec(url) ?? [];
  const servers = parseServerList({ scheme: "etcd", userInfo, list, defaultPort: 2379 });
  if (servers !== undefined) return servers;
  throw new LeaseFault(
    "lease_url_invalid",
    "leases in etcd: not a URL of etcd; use etcd://host:2379,host2:2379 or etcd://user:password@host:2379",
  );
}
