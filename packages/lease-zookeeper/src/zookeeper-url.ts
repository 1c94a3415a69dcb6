/** Where ZooKeeper is: `zookeeper://[user:password@]host[:port][,host[:port]…][/path]`. */
import { unescape } from "node:querystring";
import { LeaseFault } from "@nightwriter/lease";

const DEFAULT_PORT = 2181;

export interface ZookeeperHost {
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
}

export interface ZookeeperUrl {
  /** At least one, in the order of the URL. */
  readonly hosts: readonly ZookeeperHost[];
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
  // No URL parser takes a list of hosts; each of them alone is a URL.
  const parsed = list.split(",").map((host) => URL.parse(`zookeeper://${userInfo ?? ""}@${host}`));
  const hosts = parsed.flatMap((one) => (one === null || one.hostname === "" ? [] : [hostOf(one)]));
  const [first] = parsed;
  const isPath = chroot.split("/").every((part) => part !== "." && part !== "..");
  if (first === null || first === undefined || hosts.length < parsed.length || !isPath) {
    throw new LeaseFault(
      "lease_url_invalid",
      "leases in zookeeper: not a URL of ZooKeeper; use zookeeper://host:2181,host2:2181/path or zookeeper://user:password@host:2181",
    );
  }
  const { username, password } = first;
  return {
    hosts,
    digest: username === "" ? undefined : `${unescape(username)}:${unescape(password)}`,
    chroot,
    label: parsed.map((one) => one?.host ?? "").join(",") + chroot,
  };
}

function hostOf({ hostname, port }: URL): ZookeeperHost {
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? DEFAULT_PORT : Number(port) };
}
