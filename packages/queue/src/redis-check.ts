/**
 * Is this Redis one that keeps jobs? Read from INFO, which managed services allow where they forbid CONFIG GET.
 */
import { QueueFault } from "./queue-fault.ts";

/** BullMQ refuses below 5.0 and warns below 6.2; Nightwriter does not start where BullMQ warns. */
const oldest = [6, 2] as const;

/** Throws a QueueFault that names everything that is wrong with the server, each with its remedy. `info` is the answer to INFO. */
export function checkRedis(info: string, store: string): void {
  const facts = parseInfo(info);
  const version = facts.get("redis_version") ?? "unknown";
  if (isTooOld(version)) {
    throw new QueueFault(
      "queue_unsupported",
      `queue ${store}: Redis ${version}; BullMQ needs ${oldest.join(".")} or newer: upgrade it`,
      { details: { store, version } },
    );
  }
  const faults = misconfigurations(facts);
  if (faults.length > 0) {
    throw new QueueFault("queue_misconfigured", `queue ${store}: ${faults.join("; ")}`, {
      details: { store, version },
    });
  }
}

function misconfigurations(facts: ReadonlyMap<string, string>): string[] {
  const role = facts.get("role");
  const policy = facts.get("maxmemory_policy");
  const faults: string[] = [];
  if (role !== "master")
    faults.push(
      `it is a ${role ?? "server of unknown role"}, which takes no writes: use the primary's address in QUEUE_URL`,
    );
  if (policy !== "noeviction") {
    faults.push(`maxmemory-policy is ${policy ?? "unknown"}, it may throw jobs away: set maxmemory-policy noeviction`);
  }
  if (facts.get("aof_enabled") !== "1") faults.push("appendonly is off, a restart loses jobs: set appendonly yes");
  return faults;
}

function parseInfo(info: string): Map<string, string> {
  const pairs = info.split(/\r?\n/).map((line) => /^(\w+):(.*)$/.exec(line));
  return new Map(pairs.flatMap((pair) => (pair === null ? [] : [[pair[1] ?? "", pair[2] ?? ""] as const])));
}

function isTooOld(version: string): boolean {
  const [major = Number.NaN, minor = 0] = version.split(".").map(Number);
  return !(major > oldest[0] || (major === oldest[0] && minor >= oldest[1]));
}
