/**
 * The URL of a store of leases in Redis: one server, a primary known to its sentinels, a cluster, or several servers that
 * vote. Taken apart by hand, because the platform's URL knows one host only.
 */
import { LeaseFault } from "@nightwriter/lease";

/** A server, as a URL names it. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Which servers a URL means: one; the primary that sentinels watch; a cluster; several that vote. */
export type LeaseForm = "redis" | "redis+sentinel" | "redis+cluster" | "redis+redlock";

/** What a URL says. */
export interface LeaseUrl {
  readonly form: LeaseForm;
  readonly addresses: readonly Address[];
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: boolean;
  readonly db: number;
  /** What the sentinels call the primary; empty in every other form. */
  readonly primary: string;
  readonly sentinelUsername: string | undefined;
  readonly sentinelPassword: string | undefined;
  /** For messages: form and servers, no passwords. */
  readonly label: string;
}

interface Form {
  readonly form: LeaseForm;
  readonly port: number;
  readonly path: RegExp;
  /** What the path is, for who has got it wrong. */
  readonly pathIs: string;
  readonly parameters: readonly string[];
}

const database = { path: /^(?<db>\d{1,4})?$/, pathIs: "the path is the number of a database, or left out" };
const forms: Readonly<Record<string, Form>> = {
  redis: { form: "redis", port: 6379, ...database, parameters: [] },
  rediss: { form: "redis", port: 6379, ...database, parameters: [] },
  "redis+sentinel": {
    form: "redis+sentinel",
    port: 26379,
    path: /^(?<primary>[\w.-]+)(?:\/(?<db>\d{1,4}))?$/,
    pathIs: "the path is /PRIMARY or /PRIMARY/DATABASE, PRIMARY being the sentinels' name of it",
    parameters: ["tls", "sentinelUsername", "sentinelPassword"],
  },
  "redis+cluster": {
    form: "redis+cluster",
    port: 6379,
    path: /^(?<none>)$/,
    pathIs: "a cluster has one database: leave the path out",
    parameters: ["tls"],
  },
  "redis+redlock": { form: "redis+redlock", port: 6379, ...database, parameters: ["tls"] },
};

const shape =
  /^(?<scheme>[a-z+]+):\/\/(?:(?<username>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>[^@/?#]+)(?:\/(?<path>[^?#]*))?(?:\?(?<query>[^#]*))?$/;
const hostAndPort = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<name>[\w.-]+))(?::(?<port>\d{1,5}))?$/;

/** Takes the URL apart. Throws LeaseFault `lease_url_invalid`, in whose text there is no password. */
export function parseLeaseUrl(url: string): LeaseUrl {
  const parts = shape.exec(url)?.groups ?? {};
  const scheme = parts["scheme"] ?? "";
  const known = forms[scheme];
  if (known === undefined) {
    throw invalid(`not one of ${Object.keys(forms).join(":, ")}: with its hosts; write it like redis://host:6379`);
  }
  const { form, port, parameters } = known;
  const addresses = (parts["hosts"] ?? "").split(",").map((text) => parseAddress(text, port));
  checkCount(form, addresses.length);
  const place = known.path.exec(parts["path"] ?? "")?.groups;
  if (place === undefined) throw invalid(`${scheme}: path /${parts["path"] ?? ""}; ${known.pathIs}`);
  const query = parseQuery(parts["query"] ?? "", parameters);
  const primary = place["primary"] ?? "";
  const servers = addresses.map(({ host, port }) => `${host}:${port}`).join(",");
  return {
    form,
    addresses,
    username: decoded(parts["username"]),
    password: decoded(parts["password"]),
    tls: scheme === "rediss" || query.get("tls") === "true",
    db: Number(place["db"] ?? "0"),
    primary,
    sentinelUsername: query.get("sentinelUsername"),
    sentinelPassword: query.get("sentinelPassword"),
    label: `${form} at ${servers}${primary === "" ? "" : `/${primary}`}`,
  };
}

function parseAddress(text: string, defaultPort: number): Address {
  const { v6, name, port } = hostAndPort.exec(text)?.groups ?? {};
  const host = v6 ?? name;
  const number = port === undefined ? defaultPort : Number(port);
  if (host === undefined || number < 1 || number > 65_535) {
    throw invalid(`host ${JSON.stringify(text)}; write hosts like a:6379,b:6379`);
  }
  return { host, port: number };
}

function checkCount(form: LeaseForm, count: number): void {
  if (form === "redis" && count !== 1) {
    throw invalid(
      `${count} hosts; redis: has one, for several choose redis+sentinel:, redis+cluster: or redis+redlock:`,
    );
  }
  // Four need a majority of three and bear one loss, as three do: an even server only adds ties.
  if (form === "redis+redlock" && (count < 3 || count % 2 === 0)) {
    throw invalid(`${count} hosts; redis+redlock: takes a majority of 3 or 5 servers that know nothing of each other`);
  }
}

function parseQuery(query: string, parameters: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map(new URLSearchParams(query));
  for (const [name, value] of found) {
    if (!parameters.includes(name)) throw invalid(`parameter ${name}; known here: ${parameters.join(", ") || "none"}`);
    if (name === "tls" && !/^(?:true|false)$/.test(value)) throw invalid("parameter tls; set it to true or false");
  }
  return found;
}

function decoded(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalid("user or password with a % that escapes nothing; write % as %25");
  }
}

function invalid(what: string): LeaseFault {
  return new LeaseFault("lease_url_invalid", `URL of the lease store: ${what}`);
}
