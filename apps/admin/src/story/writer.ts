/**
 * A writer of the story, as a process of its own: it adds sales to a restaurant's total, with a lease or without, guarded
 * or not. It reads its orders line by line and does one after another, as a program goes from step to step; what it has read
 * and which lease it thinks it has is in its own memory, where a freeze leaves it.
 */
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { setImmediate, setTimeout } from "node:timers/promises";
import { Fault, invariant, silentLogger, systemClock, toJson } from "@nightwriter/core";
import { type Database, openDatabase } from "@nightwriter/database";
import { type Job, registerJob } from "@nightwriter/job";
import { type LeaseClaim, LeaseFault, type LeaseGrant, type LeaseStore } from "@nightwriter/lease";
import { openLeaseStore } from "@nightwriter/lease-stores";
import { applyItems, type ItemOutcome } from "@nightwriter/ledger";
import { partitionName, partitionOf, raiseTerm, readTerms, type Term } from "@nightwriter/partition";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import type { AnswerLine, OrderedItem, OrderLine, OrderName, Orders, WriteResult } from "./orders.ts";
import { RESTAURANT, readTotal } from "./restaurant.ts";

const TRY_EVERY_MS = 10;
/** An order that cannot be carried out must not keep the story waiting for ever. */
const TRIES = 6_000;

const [, , name = "writer"] = process.argv;

/** What this process has opened, holds and has in mind. */
interface Memory {
  database?: Database;
  job?: Job;
  leases?: LeaseStore;
  claim?: LeaseClaim;
  /** When the request that got or renewed the lease began, by the monotonic clock. */
  trustedFromMs?: number;
  term?: Term;
  meansMinor?: bigint;
}

let memory: Memory = {};

type Handlers = { readonly [Name in OrderName]: (asks: Orders[Name]["asks"], id: number) => Promise<Answer<Name>> };
type Answer<Name extends OrderName> = Orders[Name]["answers"];

const handlers: Handlers = {
  async enter({ databaseUrl }) {
    // Without timeouts: a write that is held back on its way is the story, not a fault.
    const patience = { statementTimeoutMs: 0, lockTimeoutMs: 0, queryTimeoutMs: 0 };
    memory.database = openDatabase({
      url: databaseUrl,
      applicationName: `nightwriter story ${name}`,
      max: 1,
      ...patience,
    });
    memory.job = await registerJob(memory.database, restaurantTotals);
    return {};
  },
  async openLeases({ url, prefix, ttlMs }) {
    memory.leases = await retried(() => openLeaseStore({ url, prefix, ttlMs, applicationName: `story-${name}` }));
    return { kind: memory.leases.kind, ttlMs: memory.leases.ttlMs };
  },
  async take() {
    const { database, job } = opened();
    const claim = { name: leaseName(), holder: name, nonce: randomUUID() };
    await retried(() => request((store) => store.acquire(claim)));
    memory.claim = claim;
    memory.term = await raiseTerm(database, job, { partition: partition(), holder: name, nonce: claim.nonce });
    return { token: memory.term.fencingToken.toString(), leftMs: leftMs() };
  },
  async renew() {
    const claim = held();
    const renewed = await retried(() => request((store) => store.renew([claim])));
    if (!renewed.has(claim.name)) memory.trustedFromMs = Number.NEGATIVE_INFINITY;
    return { leftMs: leftMs() };
  },
  check: async () => ({ leftMs: leftMs(), ttlMs: leases().ttlMs }),
  async seeFree() {
    await retried(async () => ((await leases().find([leaseName()])).size === 0 ? true : undefined));
    return {};
  },
  async release() {
    const claim = held();
    await retried(async () =>
      leases()
        .release([claim])
        .then(() => true),
    );
    return {};
  },
  async read({ addMinor }) {
    const { database, job } = opened();
    const totalMinor = await readTotal(database, job);
    memory.meansMinor = totalMinor + BigInt(addMinor);
    return { totalMinor: totalMinor.toString(), meansMinor: memory.meansMinor.toString() };
  },
  async overwrite() {
    const { database, job } = opened();
    const { meansMinor } = memory;
    invariant(meansMinor !== undefined, `${name}: has not read what it writes`);
    const { numUpdatedRows } = await database.db
      .updateTable("nightwriter.key_total")
      .set({ total_minor: meansMinor })
      .where("job_id", "=", job.id)
      .where("key", "=", RESTAURANT)
      .executeTakeFirst();
    return { rows: Number(numUpdatedRows), wroteMinor: meansMinor.toString() };
  },
  async apply(item, id) {
    invariant(memory.term !== undefined, `${name}: has no term to write under`);
    return writeUnder(memory.term, item, id);
  },
  async deliver(item, id) {
    const { database, job } = opened();
    const term = (await readTerms(database, job)).find((each) => each.partition === partition());
    invariant(term !== undefined, "each partition has a term");
    return writeUnder(term, item, id);
  },
  async leave() {
    await memory.leases?.close();
    await memory.database?.close();
    memory = {};
    return {};
  },
};

/** Tries until the item is applied, known to be, or refused: a conflict only says that another write was faster. */
async function writeUnder(term: Term, item: OrderedItem, id: number): Promise<WriteResult> {
  const { database, job } = opened();
  const { runId, key, businessDate } = item;
  for (;;) {
    const context = { database, job, term, worker: name, logger: silentLogger };
    const writing = applyItems(context, [{ runId: BigInt(runId), key, businessDate }]);
    // The pool hands the connection over in one turn of the event loop, and what is written to it leaves in the next.
    await setImmediate();
    await setImmediate();
    say({ id, sent: true, leftMs: memory.trustedFromMs === undefined ? 0 : leftMs() });
    const [outcome] = await writing;
    invariant(outcome !== undefined, "each item has an outcome");
    const result = resultOf(outcome, term);
    if (result !== undefined) return result;
  }
}

function resultOf(outcome: ItemOutcome, { fencingToken }: Term): WriteResult | undefined {
  const token = fencingToken.toString();
  switch (outcome.outcome) {
    case "applied":
      return { outcome: "applied", totalMinor: outcome.totalAfter.toString(), token };
    case "duplicate":
      return { outcome: "duplicate" };
    case "fenced":
      return { outcome: "fenced", token, storedToken: outcome.storedToken.toString() };
    case "conflict":
      return undefined;
    case "unknown":
      throw outcome.fault;
    case "parked":
    case "failing":
    case "withdrawn":
      throw new Fault("item_not_applied", `item of ${RESTAURANT}: ${outcome.outcome}, ${outcome.reason}`);
  }
}

/** Asks the store, and trusts a grant from before the question. */
async function request<Grant extends LeaseGrant | ReadonlySet<string>>(
  ask: (store: LeaseStore) => Promise<Grant | undefined>,
): Promise<Grant | undefined> {
  const beforeMs = systemClock.monotonicMs();
  const granted = await ask(leases());
  if (granted !== undefined) memory.trustedFromMs = beforeMs;
  return granted;
}

/** Tries again while the answer is undefined or the store does not answer: nothing but patience is asked for. */
async function retried<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
    } catch (error) {
      if (!(error instanceof LeaseFault) || !error.retryable || tries >= TRIES) throw error;
    }
    if (tries >= TRIES) throw new Fault("lease_not_granted", `lease ${leaseName()}: not granted to ${name}`);
    await setTimeout(TRY_EVERY_MS);
  }
}

function leftMs(): number {
  invariant(memory.trustedFromMs !== undefined, `${name}: has no lease`);
  return memory.trustedFromMs + leases().ttlMs - systemClock.monotonicMs();
}

function opened(): { readonly database: Database; readonly job: Job } {
  const { database, job } = memory;
  invariant(database !== undefined && job !== undefined, `${name}: has not entered`);
  return { database, job };
}

function leases(): LeaseStore {
  invariant(memory.leases !== undefined, `${name}: has opened no store of leases`);
  return memory.leases;
}

function held(): LeaseClaim {
  invariant(memory.claim !== undefined, `${name}: has no lease`);
  return memory.claim;
}

function partition(): number {
  return partitionOf(RESTAURANT, opened().job.partitionCount);
}

function leaseName(): string {
  return partitionName({ job: opened().job, partition: partition() });
}

function say(line: AnswerLine): void {
  process.stdout.write(`${toJson(line, 0)}\n`);
}

async function obey<Name extends OrderName>({ id, order, asks }: OrderLine & { order: Name }): Promise<void> {
  try {
    say({ id, answer: await handlers[order](asks, id) });
  } catch (error) {
    say({ id, error: error instanceof Error ? error.message : String(error) });
  }
}

for await (const line of createInterface({ input: process.stdin })) await obey(JSON.parse(line) as OrderLine);
