/**
 * Redlock: a lease is held by whoever has it on a majority of several servers that know nothing of each other.
 *
 * All servers are asked at once, each with a patience much shorter than a lease, so that one which is silent takes nothing from
 * those that answer. What was taken on fewer than a majority is given back on all, also on those that did not answer.
 *
 * Every server counts a lease by its own clock, from when it handled the request. Clocks run at different speeds, so the
 * shortest of these times is shorter than the key's by the drift; `ttlMs` is what is left after that. The time that
 * asking took is not taken off here: the keeper trusts a lease from before the request.
 *
 * A holder may keep a lease for weeks, in which every server is away some time. One that has come back without the lease
 * gets it again at the next renewal, if a majority has just confirmed it: else each outage would leave one vote less.
 */
import { type LeaseClaim, LeaseFault, type LeaseSight, type LeaseStore } from "@nightwriter/lease";
import { type LeaseServer, leaseServer } from "./lease-server.ts";
import { parseLeaseUrl } from "./lease-url.ts";
import type { RedisLeasesOptions } from "./redis-leases-options.ts";
import { serverConnection } from "./server-connection.ts";

/** By how much clocks may differ in speed, and what 1 ms of precision may cost at either end (antirez, redlock-rb). */
const DRIFT_SHARE = 0.01;
const DRIFT_MS = 2;

/** Two rounds, and they still end within a third of a lease. */
const ANSWER_WITHIN = 0.15;

/**
 * Connects to 3 or 5 servers, of which a majority must be there, and refuses those that are replicas, may evict keys or are
 * older than 6.2. The others are connected when they come.
 *
 * A lease may be granted twice when a majority has forgotten it: a restart without append-only file, a clock that jumped. And
 * as with every store a holder that was paused may act after its lease. Throws LeaseFault, and leaves no connection behind
 * when it does.
 *
 * @example
 * await using leases = await openRedlock({ url: "redis+redlock://a:6379,b:6379,c:6379", prefix: "nightwriter", ttlMs: 10_000, … });
 */
export async function openRedlock(options: RedisLeasesOptions): Promise<LeaseStore> {
  const url = parseLeaseUrl(options.url);
  if (url.form !== "redis+redlock") {
    throw new LeaseFault("lease_url_invalid", `URL of the lease store: ${url.form}: means no servers that vote`);
  }
  const { prefix, ttlMs, applicationName, logger } = options;
  const servers = url.addresses.map((address) =>
    leaseServer({
      label: `redis at ${address.host}:${address.port}`,
      prefix,
      keyMs: ttlMs,
      answerWithinMs: Math.floor(ttlMs * ANSWER_WITHIN),
      applicationName,
      logger,
      connection: serverConnection(url, address),
    }),
  );
  const voters: Voters = { servers, majority: Math.floor(servers.length / 2) + 1, label: url.label };
  const close = async (): Promise<void> => void (await Promise.all(servers.map(async (server) => server.close())));
  try {
    await connectMajority(voters);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    kind: "redlock",
    label: url.label,
    ttlMs: ttlMs - Math.ceil(ttlMs * DRIFT_SHARE + DRIFT_MS),
    acquire: async (claim) => acquire(voters, claim),
    renew: async (claims) => renew(voters, claims),
    release: async (claims) => void heard(voters, await poll(voters, async (server) => server.drop(claims))),
    find: async (names) => find(voters, names),
    claimSlot: {
      label: `leases in ${url.label}`,
      read: async () => readClaim(voters),
      replace: async (before, text) => replaceClaim(voters, before, text),
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

interface Voters {
  readonly servers: readonly LeaseServer[];
  readonly majority: number;
  readonly label: string;
}

type Ballot<Answer> = PromiseSettledResult<Answer>;

/** All servers' answers, in their order. Never throws. */
async function poll<Answer>(
  { servers }: Voters,
  question: (server: LeaseServer) => Promise<Answer>,
): Promise<readonly Ballot<Answer>[]> {
  return Promise.allSettled(servers.map(question));
}

/** The answers that there are, if they are those of a majority. Throws LeaseFault. */
function heard<Answer>({ servers, majority, label }: Voters, ballots: readonly Ballot<Answer>[]): readonly Answer[] {
  const answers = ballots.flatMap((ballot) => (ballot.status === "fulfilled" ? [ballot.value] : []));
  if (answers.length >= majority) return answers;
  const faults = ballots.flatMap((ballot) => (ballot.status === "rejected" ? [ballot.reason as unknown] : []));
  for (const fault of faults) if (!(fault instanceof LeaseFault)) throw fault;
  const texts = faults.map((fault) => (fault instanceof Error ? fault.message : "")).join("; ");
  throw new LeaseFault(
    "lease_store_away",
    `leases in ${label}: ${faults.length} of ${servers.length} are away: ${texts}`,
    {
      details: { store: label, away: faults.length, servers: servers.length },
      retryable: true,
      cause: faults[0],
    },
  );
}

async function connectMajority(voters: Voters): Promise<void> {
  const ballots = await poll(voters, async (server) => server.connect());
  for (const ballot of ballots) {
    const unfit: unknown = ballot.status === "rejected" ? ballot.reason : undefined;
    if (unfit instanceof LeaseFault && unfit.code === "lease_store_unfit") throw unfit;
  }
  heard(voters, ballots);
}

async function acquire(voters: Voters, claim: LeaseClaim): ReturnType<LeaseStore["acquire"]> {
  const ballots = await poll(voters, async (server) => server.take(claim));
  const granted = ballots.filter((ballot) => ballot.status === "fulfilled" && ballot.value);
  if (granted.length >= voters.majority) return { storeToken: undefined };
  await poll(voters, async (server) => server.drop([claim]));
  heard(voters, ballots);
  return undefined;
}

async function renew(voters: Voters, claims: readonly LeaseClaim[]): Promise<ReadonlySet<string>> {
  const ballots = await poll(voters, async (server) => server.extend(claims));
  const answers = heard(voters, ballots);
  const held = claims.filter((_, index) => answers.filter((extended) => extended[index]).length >= voters.majority);
  await Promise.allSettled(
    voters.servers.flatMap((server, voter) => {
      const ballot = ballots[voter];
      if (ballot?.status !== "fulfilled") return [];
      const missing = held.filter((claim) => ballot.value[claims.indexOf(claim)] === false);
      return missing.map(async (claim) => server.take(claim));
    }),
  );
  return new Set(held.map(({ name }) => name));
}

async function find(voters: Voters, names: readonly string[]): Promise<ReadonlyMap<string, LeaseSight>> {
  const answers = heard(voters, await poll(voters, async (server) => server.look(names)));
  const found = new Map<string, LeaseSight>();
  for (const [index, name] of names.entries()) {
    const sights = answers.flatMap((looks) => looks[index] ?? []);
    const sight = agreed(sights, voters.majority);
    if (sight !== undefined) found.set(name, sight);
  }
  return found;
}

/**
 * What stands on most of those that answer, of a majority at least; of two that stand on as many, the one on the server that the URL
 * names first. A server that has forgotten says nothing: what stands anywhere is somebody's.
 */
async function readClaim(voters: Voters): Promise<string | undefined> {
  const answers = heard(voters, await poll(voters, async (server) => server.readClaim()));
  const texts = Map.groupBy(
    answers.filter((text) => text !== undefined),
    (text) => text,
  );
  const [most] = [...texts].toSorted(([, one], [, other]) => other.length - one.length);
  return most?.[0];
}

/** If it is what most have. Then also where nothing stands, since a server that had forgotten is to know it again. */
async function replaceClaim(voters: Voters, before: string | undefined, text: string): Promise<string | undefined> {
  const stands = await readClaim(voters);
  if (stands !== before) return stands;
  const ballots = await poll(voters, async (server) => {
    const found = await server.replaceClaim(undefined, text);
    if (before !== undefined && found === before) await server.replaceClaim(before, text);
  });
  heard(voters, ballots);
  return readClaim(voters);
}

/** What a majority sees, and how long it goes on doing so: until the first of the majority's longest has run out. */
function agreed(sights: readonly LeaseSight[], majority: number): LeaseSight | undefined {
  const holdings = Map.groupBy(sights, ({ holder, nonce }) => `${holder} ${nonce}`);
  const seen = [...holdings.values()].find((holding) => holding.length >= majority) ?? [];
  return seen.toSorted((one, other) => (other.leftMs ?? Infinity) - (one.leftMs ?? Infinity))[majority - 1];
}
