/** Where ZooKeeper is: `zookeeper://[user:password@]host[:port][,host[:port]…][/path]`. */
import { LeaseFault, parseServerList, type ServerAddress } from "@nightwriter/lease";

export interface ZookeeperUrl {
  /** At least one, in the order of the URL. */
  readonly hosts: readonly ServerAddress[];
  /** `user:password` of the digest scheme; undefined: nodes are open to everybody. */
  readonly digest: string | undefined;
  /** The node that everything is below, `/path`; empty for the root. */
  readonly chroot: string;
  /** For messages: hosts and path, without the password. */
  readonly label: string;
}

/** Throws LeaseFault `lease_url_invalid`, which does not repeat the URL: there may be a password in it. */
export function parseZookeeperUrl(url: string): ZookeeperUrl {
  const pattern = /^zookeeper:\/\/(?:([^@/?#]*)@)?([^@/?#]+?)((?:\/[^/?#]+)*)\/?$/;
  const [, userInfo, list = "", chroot = ""] = pattern.exec(url) ?? [];
  const servers = parseServerList({ scheme: "zookeeper", userInfo, list, defaultPort: 2181 });
  const isPath = chroot.split("/").every((part) => part !== "." && part !== "..");
  if (servers === undefined || !isPath) {
    throw new LeaseFault(
      "lease_url_invalid",
      "leases in zookeeper: not a URL of ZooKeeper; use zookeeper://host:2181,host2:2181/path or zookeeper://user:password@host:2181",
    );
  }
  const { hosts, credentials, label } = servers;
  return {
    hosts,
    digest: credentials === undefined ? undefined : `${credentials.name}:${credentials.password}`,
    chroot,
    label: label + chroot,
  };
}
