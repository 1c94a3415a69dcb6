/**
 * Leases in etcd: a key each, bound to a lease of etcd's own that has the same end.
 *
 * The number of etcd's lease is made from the claim, nonce included. So nothing has to be remembered: whoever has the
 * claim can renew and release it, a request whose answer was lost is repeated and finds its own work, and etcd's lease
 * holds no key but the claim's. etcd ends each by the clock of its leader, also when the others of this process go on.
 */
import { createHash } from "node:crypto";
import { type Logger, silentLogger } from "@nightwriter/core";
import { type LeaseClaim, LeaseFault, type LeaseGrant, type LeaseSight, type LeaseStore } from "@nightwriter/lease";
import { z } from "zod";
import { openEtcdGateway } from "./etcd-gateway.ts";
import { type EtcdRecord, etcdRequests } from "./etcd-requests.ts";
import { parseEtcdUrl } from "./etcd-url.ts";

/** A little less than the third that a call may take, so that it has failed by then. */
const ANSWER_SHARE = 0.3;

export interface EtcdLeasesOptions {
  /** `etcd://[user:password@]host[:port][,host[:port]…]`: the members of one cluster, tried in turn. Default port: 2379. */
  readonly url: string;
  /** Keeps installations apart that share the cluster: keys are `PREFIX/lease/NAME`, and `PREFIX/claim`. */
  readonly prefix: string;
  /** The length of a lease, in milliseconds. etcd counts whole seconds, so it may keep one for up to a second more. */
  readonly ttlMs: number;
  /** How this process shows in etcd's log: the user agent of its requests. */
  readonly applicationName: string;
  readonly logger?: Logger;
}

/**
 * Opens the store once a server has answered, for which it may take the length of a lease. Throws LeaseFault:
 * `lease_url_invalid`, `lease_store_away`, `lease_store_unfit` (wrong password, authentication not as the URL says, an etcd
 * without its JSON gateway).
 */
export async function openEtcdLeases(options: EtcdLeasesOptions): Promise<LeaseStore> {
  const { ttlMs, prefix, applicationName, logger = silentLogger } = options;
  const gateway = openEtcdGateway(parseEtcdUrl(options.url), applicationName);
  const ask = etcdRequests(gateway);
  const until = (): number => performance.now() + ttlMs * ANSWER_SHARE;
  const keyOf = (name: string): string => `${prefix}/lease/${name}`;
  const seconds = Math.ceil(ttlMs / 1_000);
  const warn = warnOnce(logger, seconds);

  const acquire = async (claim: LeaseClaim): Promise<LeaseGrant | undefined> => {
    const deadline = until();
    const key = keyOf(claim.name);
    const id = leaseIdOf(key, claim);
    const [there] = await ask.read([key], deadline);
    if (there !== undefined && !isOf(claim, there)) return undefined;
    warn(await ask.begin(id, seconds, deadline));
    const stored = await ask.putIfAbsent({ key, value: valueOf(claim), lease: id }, deadline);
    if (stored === undefined) {
      const message = `leases in etcd at ${gateway.label}: ${claim.name} ended before it was stored; acquired again`;
      throw new LeaseFault("lease_store_away", message, { retryable: true, details: { lease: claim.name } });
    }
    if (isOf(claim, stored)) return { storeToken: stored.createRevision };
    await ask.revoke(id, deadline);
    return undefined;
  };

  const renew = async (claims: readonly LeaseClaim[]): Promise<ReadonlySet<string>> => {
    const deadline = until();
    const keys = claims.map(({ name }) => keyOf(name));
    // All at once: a key that is there and its lease that is alive, in whatever order they are seen, are the claim's.
    const [records, lives] = await Promise.all([
      ask.read(keys, deadline),
      Promise.all(claims.map((claim) => ask.keepAlive(leaseIdOf(keyOf(claim.name), claim), deadline))),
    ]);
    const isRenewed = (claim: LeaseClaim, at: number): boolean => (lives[at] ?? 0) > 0 && isOf(claim, records[at]);
    return new Set(claims.filter(isRenewed).map(({ name }) => name));
  };

  const release = async (claims: readonly LeaseClaim[]): Promise<void> => {
    const deadline = until();
    await Promise.all(claims.map((claim) => ask.revoke(leaseIdOf(keyOf(claim.name), claim), deadline)));
  };

  const find = async (names: readonly string[]): Promise<ReadonlyMap<string, LeaseSight>> => {
    const deadline = until();
    const records = await ask.read(names.map(keyOf), deadline);
    const sights = names.map(async (name, at): Promise<[string, LeaseSight] | undefined> => {
      const record = records[at];
      if (record === undefined) return undefined;
      return [name, { ...holderOf(record.value), leftMs: await ask.leftMs(record.lease, deadline) }];
    });
    return new Map((await Promise.all(sights)).filter((sight) => sight !== undefined));
  };

  const label = `etcd at ${gateway.label}`;
  const claimKey = `${prefix}/claim`;
  const claimSlot: LeaseStore["claimSlot"] = {
    label: `leases in ${label}`,
    read: async () => (await ask.read([claimKey], until()))[0]?.value,
    replace: async (before, value) => ask.replace({ key: claimKey, before, value }, until()),
  };
  const close = async (): Promise<void> => gateway.close();
  try {
    await ask.read([keyOf("")], performance.now() + ttlMs);
  } catch (error) {
    await close();
    throw error;
  }
  return { kind: "etcd", label, ttlMs, acquire, renew, release, find, claimSlot, close, [Symbol.asyncDispose]: close };
}

/** Says once that etcd keeps leases for longer than we asked. */
function warnOnce(logger: Logger, asked: number): (kept: number) => void {
  let warned = false;
  return (kept) => {
    if (kept <= asked || warned) return;
    warned = true;
    const message = "etcd keeps leases longer than asked, by its election timeout: after a crash, work waits so long";
    logger.warn({ askedSeconds: asked, keptSeconds: kept }, message);
  };
}

type Holder = Pick<LeaseClaim, "holder" | "nonce">;

function valueOf({ holder, nonce }: LeaseClaim): string {
  return JSON.stringify({ holder, nonce } satisfies Holder);
}

/** Who stored this. A key that somebody else wrote is held all the same, by nobody that we know. */
function holderOf(value: string): Holder {
  try {
    return holderBody.parse(JSON.parse(value));
  } catch {
    return { holder: value, nonce: "" };
  }
}

const holderBody = z.object({ holder: z.string(), nonce: z.string() });

/** A positive int64, the same for the same claim on the same key, and for no other. */
function leaseIdOf(key: string, { holder, nonce }: LeaseClaim): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([key, holder, nonce]))
    .digest();
  return ((digest.readBigUInt64BE() >> 1n) | 1n).toString();
}

function isOf(claim: LeaseClaim, record: EtcdRecord | undefined): record is EtcdRecord {
  return record?.value === valueOf(claim);
}
