/** The servers of a store's URL: `scheme://[user:password@]host[:port][,host[:port]…]`. */
import { unescape } from "node:querystring";

export interface ServerAddress {
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
}

export interface ServerList {
  /** At least one, in the order of the URL. */
  readonly hosts: readonly ServerAddress[];
  /** Undefined: the servers ask for none. */
  readonly credentials: { readonly name: string; readonly password: string } | undefined;
  /** For messages: the hosts, without the password. */
  readonly label: string;
}

/** What stands between the scheme and the path: `userInfo` in front of the @, `list` behind it. */
export interface Authority {
  readonly scheme: string;
  readonly userInfo: string | undefined;
  readonly list: string;
  readonly defaultPort: number;
}

/** Undefined: one of them is no host. No URL parser takes a list of hosts; each of them alone is a URL. */
export function parseServerList({ scheme, userInfo = "", list, defaultPort }: Authority): ServerList | undefined {
  const parsed = list.split(",").map((host) => URL.parse(`${scheme}://${userInfo}@${host}`));
  const urls = parsed.flatMap((url) => (url === null || url.hostname === "" ? [] : [url]));
  const [first] = urls;
  if (first === undefined || urls.length < parsed.length) return undefined;
  const name = unescape(first.username);
  return {
    hosts: urls.map(({ hostname, port }) => ({
      host: hostname.replace(/^\[(.*)\]$/, "$1"),
      port: port === "" ? defaultPort : Number(port),
    })),
    credentials: name === "" ? undefined : { name, password: unescape(first.password) },
    label: urls.map(({ host }) => host).join(","),
  };
}
