/** Is this Redis one that keeps leases? Read from INFO, which managed services allow where they forbid CONFIG GET. */
import { type Logger } from "@nightwriter/core";
import { LeaseFault } from "@nightwriter/lease";

/** The oldest that the queue takes too; what is used here is older. */
const oldest = [6, 2] as const;

/**
 * Throws a LeaseFault that names everything that is wrong with the server, each with its remedy. `info` is the answer to
 * INFO. A server without an append-only file is only warned about: it forgets leases when it restarts, which costs work
 * done twice; to refuse it would cost the work.
 */
export function checkServer(info: string, label: string, logger: Logger): void {
  const facts = parseInfo(info);
  const faults = unfitness(facts);
  if (faults.length > 0) {
    throw new LeaseFault("lease_store_unfit", `leases in ${label}: ${faults.join("; ")}`, {
      details: { store: label, version: facts.get("redis_version") },
    });
  }
  if (facts.get("aof_enabled") !== "1") {
    logger.warn({ store: label }, "lease store: appendonly is off, a restart forgets leases: set appendonly yes");
  }
}

function unfitness(facts: ReadonlyMap<string, string>): string[] {
  const version = facts.get("redis_version") ?? "unknown";
  const role = facts.get("role");
  const policy = facts.get("maxmemory_policy");
  const faults: string[] = [];
  if (isTooOld(version)) faults.push(`Redis ${version}; leases need ${oldest.join(".")} or newer: upgrade it`);
  if (role !== "master")
    faults.push(
      `it is a ${role ?? "server of unknown role"}, which takes no writes: use the primary's address in LEASE_URL`,
    );
  if (policy !== "noeviction") {
    faults.push(
      `maxmemory-policy is ${policy ?? "unknown"}, it may throw leases away: set maxmemory-policy noeviction`,
    );
  }
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
