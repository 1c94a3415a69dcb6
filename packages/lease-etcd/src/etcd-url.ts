/** Where etcd is: `etcd://[user:password@]host[:port][,host[:port]…]`. */
import { unescape } from "node:querystring";
import { LeaseFault } from "@nightwriter/lease";

const DEFAULT_PORT = 2379;

export interface EtcdHost {
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
}

export interface EtcdUrl {
  /** At least one, in the order of the URL. */
  readonly hosts: readonly EtcdHost[];
  /** Undefined: the servers ask for none. */
  readonly credentials: { readonly name: string; readonly password: string } | undefined;
  /** For messages: the hosts, without the password. */
  readonly label: string;
}

/** Throws LeaseFault `lease_url_invalid`, which does not repeat the URL: there may be a password in it. */
export function parseEtcdUrl(url: string): EtcdUrl {
  const [, userInfo, list = ""] = /^etcd:\/\/(?:([^@/?#]*)@)?([^@/?#]+)\/?$/.exec(url) ?? [];
  // No URL parser takes a list of hosts; each of them alone is a URL.
  const parsed = list.split(",").map((host) => URL.parse(`etcd://${userInfo ?? ""}@${host}`));
  const hosts = parsed.flatMap((one) => (one === null || one.hostname === "" ? [] : [hostOf(one)]));
  const [first] = parsed;
  if (first === null || first === undefined || hosts.length < parsed.length) {
    throw new LeaseFault(
      "lease_url_invalid",
      "leases in etcd: not a URL of etcd; use etcd://host:2379,host2:2379 or etcd://user:password@host:2379",
    );
  }
  const name = unescape(first.username);
  const credentials = name === "" ? undefined : { name, password: unescape(first.password) };
  return { hosts, credentials, label: parsed.map((one) => one?.host ?? "").join(",") };
}

function hostOf({ hostname, port }: URL): EtcdHost {
  return { host: hostname.replace(/^\[(.*)\]$/, "$1"), port: port === "" ? DEFAULT_PORT : Number(port) };
}
