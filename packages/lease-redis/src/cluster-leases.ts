/**
 * Leases in a Redis Cluster. Each lease is one key, and keys spread over all nodes: no script touches two.
 *
 * One node that is away takes its own leases with it and should take no others. But a renewal that fails for some leases has
 * only two ways to say so: a fault, after which its caller trusts none of them any longer than before, or the names of those
 * that were extended, after which the others are lost. So at first it is a fault, which costs nothing if the node is back
 * soon; later the leases of that node are given up, early enough for the others to be confirmed in time.
 */
import { type LeaseClaim, LeaseFault, type LeaseSight, type LeaseStore } from "@nightwriter/lease";
import { type LeaseCluster, leaseCluster } from "./lease-cluster.ts";
import { claimKey, claimText, leaseKey, leaseSight, leaseValue, reclaimValues } from "./lease-key.ts";
import { CLAIM, DROP, EXTEND, LOOK, RECLAIM, TAKE } from "./lease-scripts.ts";
import type { LeaseUrl } from "./lease-url.ts";
import type { RedisLeasesOptions } from "./redis-leases-options.ts";

/** Renewals come every third of a lease and are trusted for nine tenths: there is a quarter to wait, and time for one more. */
const GIVE_UP_AFTER = 0.25;

/** A question and, if its key moved, the same question elsewhere: two answers within a third of a lease. */
const ANSWER_WITHIN = 0.15;

/** Connects to every primary, and refuses one that is unfit. Throws LeaseFault, and leaves no connection behind when it does. */
export async function openClusterLeases(url: LeaseUrl, options: RedisLeasesOptions): Promise<LeaseStore> {
  const { prefix, ttlMs, applicationName, logger } = options;
  const cluster = leaseCluster({ url, answerWithinMs: Math.floor(ttlMs * ANSWER_WITHIN), applicationName, logger });
  try {
    await cluster.connect();
  } catch (error) {
    await cluster.close();
    throw error;
  }
  const ask = async (script: string, claims: readonly LeaseClaim[], ...first: readonly number[]) => {
    const keys = claims.map(({ name }) => leaseKey(prefix, name));
    const questions = claims.map((claim, index) => ({ key: keys[index] ?? "", values: [...first, leaseValue(claim)] }));
    const answers = await cluster.evaluate(script, questions);
    return keys.map((key) => answers.get(key));
  };
  const askClaim = async (script: string, values: readonly string[]): Promise<string | undefined> => {
    const key = claimKey(prefix);
    const [answer] = orThrow([(await cluster.evaluate(script, [{ key, values }])).get(key)]);
    return claimText(answer);
  };
  const renewal = patientRenewal(async (claims) => ask(EXTEND, claims, ttlMs), ttlMs * GIVE_UP_AFTER);
  return {
    kind: "redis",
    label: url.label,
    ttlMs,
    acquire: async (claim) => {
      const [answer] = orThrow(await ask(TAKE, [claim], ttlMs));
      return answer === 1 ? { storeToken: undefined } : undefined;
    },
    renew: renewal,
    release: async (claims) => void orThrow(await ask(DROP, claims)),
    find: async (names) => findIn(cluster, prefix, names),
    claimSlot: {
      label: `leases in ${url.label}`,
      read: async () => askClaim(CLAIM, []),
      replace: async (before, text) => askClaim(RECLAIM, reclaimValues(before, text)),
    },
    close: async () => cluster.close(),
    [Symbol.asyncDispose]: async () => cluster.close(),
  };
}

/** The answers, if none of them is a fault. */
function orThrow(answers: readonly unknown[]): readonly unknown[] {
  for (const answer of answers) if (answer instanceof LeaseFault) throw answer;
  return answers;
}

type Extend = (claims: readonly LeaseClaim[]) => Promise<readonly unknown[]>;

function patientRenewal(extend: Extend, giveUpAfterMs: number): LeaseStore["renew"] {
  /** When the renewal of a claim, by its nonce, first failed since it last had an answer. */
  let failingSince: ReadonlyMap<string, number> = new Map();
  return async (claims) => {
    const now = performance.now();
    const answers = await extend(claims);
    const failed = claims.filter((_, index) => answers[index] instanceof LeaseFault);
    failingSince = new Map(failed.map(({ nonce }) => [nonce, failingSince.get(nonce) ?? now]));
    const isPatient = failed.some(({ nonce }) => now - (failingSince.get(nonce) ?? now) < giveUpAfterMs);
    if (isPatient || failed.length === claims.length) orThrow(answers);
    const extended = claims.filter((_, index) => Array.isArray(answers[index]) && answers[index][0] === 1);
    return new Set(extended.map(({ name }) => name));
  };
}

async function findIn(cluster: LeaseCluster, prefix: string, names: readonly string[]) {
  const questions = names.map((name) => ({ key: leaseKey(prefix, name), values: [] }));
  const answers = await cluster.evaluate(LOOK, questions);
  const found = new Map<string, LeaseSight>();
  for (const [index, name] of names.entries()) {
    const [answer] = orThrow([answers.get(questions[index]?.key ?? "")]);
    const sight = Array.isArray(answer) ? leaseSight(answer[0]) : undefined;
    if (sight !== undefined) found.set(name, sight);
  }
  return found;
}
