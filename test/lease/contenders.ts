/**
 * Eight processes that want one lease, each with a store and a keeper of its own, in one event loop: so that it can be seen at
 * any instant who trusts the lease.
 *
 * Whoever holds it moves a counter as one should not: reads it, dawdles, writes it back. Two holders at a time would lose moves.
 * To some a misfortune happens in their term: the process vanishes without releasing, or it dawdles with an obstacle in the
 * way until the lease is lost, and then wants to write all the same. By its own reckoning it must be too late.
 */
import { setTimeout } from "node:timers/promises";
import { silentLogger, systemClock } from "@nightwriter/core";
import { createLeaseKeeper, type Lease, LeaseFault, type LeaseKeeper, type LeaseStore } from "@nightwriter/lease";
import { type Randomness, seededRandom } from "@nightwriter/testkit";

/** `crashed`: gone without releasing. `hindered`: an obstacle until the lease was lost. `spared`: released in good order. */
type Fate = "crashed" | "hindered" | "spared";

export interface Contest {
  terms: number;
  /** Moves of which their movers think that they were made, and what the counter says. */
  moves: number;
  counter: number;
  /** Writes that came when their lease was over, and were not made. */
  late: number;
  readonly fates: Record<Fate, number>;
  /** Who trusted the lease at one instant, for each instant at which there was more than one. */
  readonly twoAtOnce: string[];
}

interface Stage {
  readonly contest: Contest;
  readonly random: Randomness;
  /** The latest lease of each contender, whatever became of it. */
  readonly leases: Map<string, Lease>;
}

const contenderCount = 8;
const leaseName = "counter";

/** Plays until there were so many terms. Prints the seed, and takes it back from SEED. */
export async function contend(open: () => Promise<LeaseStore>, { terms }: { terms: number }): Promise<Contest> {
  const fates = { crashed: 0, hindered: 0, spared: 0 };
  const contest: Contest = { terms: 0, moves: 0, counter: 0, late: 0, fates, twoAtOnce: [] };
  const stage: Stage = { contest, random: seededRandom(), leases: new Map() };
  await using stores = new AsyncDisposableStack();
  const contenders: Contender[] = [];
  for (let index = 0; index < contenderCount; index++) {
    contenders.push(new Contender(`contender-${index}`, stores.use(await open()), stage));
  }
  await Promise.all(contenders.map((each) => each.play(terms)));
  return contest;
}

class Contender {
  readonly #holder: string;
  readonly #store: LeaseStore;
  readonly #stage: Stage;
  #keeper: LeaseKeeper;
  #obstacle: string | undefined;
  #dead = false;

  constructor(holder: string, store: LeaseStore, stage: Stage) {
    this.#holder = holder;
    this.#store = store;
    this.#stage = stage;
    this.#keeper = this.#newKeeper();
  }

  async play(terms: number): Promise<void> {
    const { contest, random } = this.#stage;
    while (contest.terms < terms) {
      const lease = await this.#keeper.acquire(leaseName).catch(unlessAway);
      if (lease !== undefined) await this.#term(lease);
      else await setTimeout(1 + random.below(20));
    }
    await this.#keeper.stop();
  }

  async #term(lease: Lease): Promise<void> {
    const { contest, random, leases } = this.#stage;
    contest.terms += 1;
    const fate = this.#draw(contest.terms);
    contest.fates[fate] += 1;
    // Whoever is dead or late must have been overdue before anybody else is granted the lease: itself, too.
    this.#look();
    leases.set(this.#holder, lease);
    for (let count = random.below(6); count >= 0; count--) await this.#move(lease, setTimeout(random.below(15)));
    if (fate === "crashed") return this.#vanish();
    if (fate === "hindered") {
      this.#obstacle = "a database that hangs";
      await this.#move(lease, aborted(lease.lost));
      this.#obstacle = undefined;
    }
    leases.delete(this.#holder);
    await this.#keeper.release(lease);
  }

  #draw(term: number): Fate {
    if (term === 1) return "crashed";
    if (term === 2) return "hindered";
    return (["crashed", "hindered"] as const)[this.#stage.random.below(16)] ?? "spared";
  }

  async #move(lease: Lease, dawdling: Promise<void>): Promise<void> {
    const { contest } = this.#stage;
    const seen = contest.counter;
    await dawdling;
    this.#look();
    if (lease.leftMs() > 0) {
      contest.counter = seen + 1;
      contest.moves += 1;
    } else contest.late += 1;
  }

  #look(): void {
    const { contest, leases } = this.#stage;
    const trusting = [...leases].filter(([, lease]) => lease.leftMs() > 0).map(([holder]) => holder);
    if (trusting.length > 1) contest.twoAtOnce.push(trusting.join(", "));
  }

  /** Who is killed renews nothing and releases nothing. Another process takes its place, under the same name even. */
  async #vanish(): Promise<void> {
    this.#dead = true;
    await this.#keeper.stop();
    this.#dead = false;
    this.#keeper = this.#newKeeper();
  }

  #newKeeper(): LeaseKeeper {
    const { random } = this.#stage;
    return createLeaseKeeper({
      store: this.#mortal(),
      holder: this.#holder,
      marginMs: this.#store.ttlMs / 10,
      clock: systemClock,
      random: () => random.next(),
      logger: silentLogger,
      obstacle: () => this.#obstacle,
    });
  }

  /** The store, which no release of a dead process reaches. */
  #mortal(): LeaseStore {
    const store = this.#store;
    return {
      kind: store.kind,
      label: store.label,
      ttlMs: store.ttlMs,
      acquire: (claim) => store.acquire(claim),
      renew: (claims) => store.renew(claims),
      release: async (claims) => (this.#dead ? undefined : store.release(claims)),
      find: (names) => store.find(names),
      claimSlot: store.claimSlot,
      close: () => store.close(),
      [Symbol.asyncDispose]: () => store.close(),
    };
  }
}

/** A busy machine may be late to answer. */
function unlessAway(error: unknown): undefined {
  if (!(error instanceof LeaseFault && error.code === "lease_store_away")) throw error;
}

async function aborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve());
  if (signal.aborted) resolve();
  await promise;
}
