/**
 * The leases of one process, and how far it may trust them.
 *
 * A store grants a lease for `ttlMs`, from when it handles the request. The holder cannot know when that was, only when it
 * asked. So it trusts the lease from *before* the request, by its monotonic clock, for `ttlMs` less a margin in which it
 * can still stop. Whatever happens between, a slow answer, a frozen process, a wall clock that is set, its trust ends before
 * the store gives the lease to somebody else.
 *
 * All leases are renewed in one request, every third of their length or a little sooner, so that one request may fail or hang
 * (a store answers or gives up within a third) and the next is still in time. A lease is to be kept by a process that gets
 * on with its work and by no other: where there is an obstacle, or the event loop is late by more than the margin (a
 * twentieth of a lease, if that is more), nothing is renewed. What cannot be renewed is tried again in short steps until trust ends.
 */
import { randomUUID } from "node:crypto";
import type { Clock, Logger } from "@nightwriter/core";
import { HeldLease } from "./held-lease.ts";
import { type LeaseClaim, LeaseFault, type LeaseStore, nobodysLease } from "./lease-store.ts";

/** A lease that this process holds, or held. */
export interface Lease {
  readonly name: string;
  readonly holder: string;
  readonly nonce: string;
  readonly storeToken: bigint | undefined;
  /**
   * How long it may still be trusted, in milliseconds, by the monotonic clock: counted from before the request that got or
   * renewed it, minus the margin. 0 or less: not any more. Asked anew at every call, so it is right after a freeze too.
   */
  leftMs(): number;
  /**
   * Aborts once, when the lease is over for whatever reason but a release: `reason` is a text for the log. A timer tells it,
   * so after a freeze other code may run before it does: ask `leftMs` before whatever cannot be taken back.
   */
  readonly lost: AbortSignal;
}

/** The leases of one process: takes them, renews them in time and all together, gives them back. */
export interface LeaseKeeper extends AsyncDisposable {
  /**
   * Takes the lease, under a nonce of its own. Undefined: it is not to be had now, since somebody else has it, there is an
   * obstacle, or the keeper was stopped. Throws LeaseFault; a try that threw may have had its effect, which the next try uses.
   */
  acquire(name: string): Promise<Lease | undefined>;
  /**
   * Gives the lease back if it is still exactly this one; also one that was lost, of which the store may know nothing yet.
   * Never throws LeaseFault: what cannot be given back runs out by itself.
   */
  release(lease: Lease): Promise<void>;
  /**
   * Milliseconds since the store last answered anything, counted from before the request. Infinity: never yet. While all is
   * well it stays below half the length of a lease, also when nothing is held.
   */
  answeredAgoMs(): number;
  /** Stops renewing, releases what is held, leaves the store open. */
  stop(): Promise<void>;
}

export interface LeaseKeeperOptions {
  readonly store: LeaseStore;
  /** The process, as the store shows it to others. */
  readonly holder: string;
  /** How long before the end of a lease trust in it ends. Below a third of its length. */
  readonly marginMs: number;
  readonly clock: Clock;
  /** In [0, 1). Spreads the renewals of processes that were started together. */
  readonly random: () => number;
  /** Gets "lease lost" for each lease, "lease store away" and "lease store back", "not renewing" and "renewing again" once each. */
  readonly logger: Logger;
  /** Why this process must not keep its leases now (its database hangs…), as a text for the log; undefined: nothing is in the way. */
  readonly obstacle?: () => string | undefined;
}

/** From now on the store is asked something every third of a lease's length, until `stop`. Errors other than LeaseFault are bugs: unhandled. */
export function createLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  return new Keeper(options);
}

class Keeper implements LeaseKeeper {
  readonly #options: LeaseKeeperOptions;
  /** How often it looks: what must be noticed is noticed this much later at most. */
  readonly #stepMs: number;
  readonly #held = new Map<string, HeldLease>();
  /** By name, the claims of which it is not known whether they were granted. */
  readonly #unanswered = new Map<string, LeaseClaim>();
  readonly #acquiring = new Set<Promise<unknown>>();
  #timer: NodeJS.Timeout;
  #lookAtMs: number;
  #renewAtMs: number;
  #renewal: Promise<void> | undefined;
  #answeredAtMs = Number.NEGATIVE_INFINITY;
  #away = false;
  #hindered = false;
  #stopped: Promise<void> | undefined;

  constructor(options: LeaseKeeperOptions) {
    this.#options = options;
    this.#stepMs = options.store.ttlMs / 20;
    this.#lookAtMs = this.#renewAtMs = options.clock.monotonicMs();
    this.#timer = setTimeout(() => this.#look());
  }

  async acquire(name: string): Promise<Lease | undefined> {
    const acquiring = this.#acquire(name);
    this.#acquiring.add(acquiring);
    try {
      return await acquiring;
    } finally {
      this.#acquiring.delete(acquiring);
    }
  }

  async #acquire(name: string): Promise<Lease | undefined> {
    const { store, holder, clock, obstacle } = this.#options;
    if (this.#stopped !== undefined || obstacle?.() !== undefined) return undefined;
    const claim = this.#unanswered.get(name) ?? { name, holder, nonce: randomUUID() };
    this.#unanswered.delete(name);
    const askedAtMs = clock.monotonicMs();
    const grant = await this.#ask(() => store.acquire(claim)).catch((error: unknown) => {
      this.#unanswered.set(name, claim);
      throw error;
    });
    if (grant === undefined) return undefined;
    const lease = new HeldLease(claim, { ...grant, clock, trustedUntilMs: this.#trustedUntilMs(askedAtMs) });
    if (this.#stopped !== undefined || lease.leftMs() <= this.#stepMs) {
      await this.release(lease);
      return undefined;
    }
    this.#held.set(name, lease);
    return lease;
  }

  async release({ name, holder, nonce }: Lease): Promise<void> {
    if (this.#held.get(name)?.nonce === nonce) this.#held.delete(name);
    await this.#giveBack([{ name, holder, nonce }]);
  }

  answeredAgoMs(): number {
    return this.#options.clock.monotonicMs() - this.#answeredAtMs;
  }

  async stop(): Promise<void> {
    await (this.#stopped ??= this.#stop());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#timer);
    // Not beside a renewal, which would lock the same rows; and what is granted yet is given back by whoever asked for it.
    await Promise.allSettled([this.#renewal, ...this.#acquiring]);
    const claims = [...[...this.#held.values()].map(({ claim }) => claim), ...this.#unanswered.values()];
    this.#held.clear();
    if (claims.length > 0) await this.#giveBack(claims);
  }

  async #giveBack(claims: readonly LeaseClaim[]): Promise<void> {
    await this.#ask(() => this.#options.store.release(claims)).catch(ignoreLeaseFault);
  }

  #lookLater(): void {
    if (this.#stopped !== undefined) return;
    const nowMs = this.#options.clock.monotonicMs();
    const events = [...this.#held.values()].map((lease) => lease.leftMs());
    if (this.#renewAtMs > nowMs) events.push(this.#renewAtMs - nowMs);
    this.#lookAtMs = Math.ceil(nowMs + Math.max(0, Math.min(this.#stepMs, ...events)));
    this.#timer = setTimeout(() => this.#look(), this.#lookAtMs - nowMs);
  }

  #look(): void {
    const { clock, marginMs, obstacle } = this.#options;
    const nowMs = clock.monotonicMs();
    for (const lease of this.#held.values()) {
      if (lease.leftMs() <= 0) this.#lose(lease, "it was not renewed in time");
    }
    const lateMs = nowMs - this.#lookAtMs;
    const why =
      lateMs > Math.max(marginMs, this.#stepMs) ? `the event loop is late by ${Math.round(lateMs)} ms` : obstacle?.();
    this.#noteHindrance(why);
    if (why === undefined && nowMs >= this.#renewAtMs) this.#renewal ??= this.#renew();
    this.#lookLater();
  }

  async #renew(): Promise<void> {
    const { store, clock, random } = this.#options;
    const leases = [...this.#held.values()];
    const askedAtMs = clock.monotonicMs();
    try {
      const renewed = await this.#ask<{ has(name: string): boolean }>(() =>
        leases.length === 0 ? store.find([nobodysLease]) : store.renew(leases.map(({ claim }) => claim)),
      );
      this.#renewAtMs = askedAtMs + (store.ttlMs / 3) * (0.8 + 0.2 * random());
      for (const lease of leases.filter((each) => this.#held.get(each.name) === each)) {
        if (renewed.has(lease.name)) lease.trustUntil(this.#trustedUntilMs(askedAtMs));
        else this.#lose(lease, "the store gave it to somebody else or forgot it");
      }
    } catch (error) {
      ignoreLeaseFault(error);
    } finally {
      this.#renewal = undefined;
    }
  }

  #trustedUntilMs(askedAtMs: number): number {
    return askedAtMs + this.#options.store.ttlMs - this.#options.marginMs;
  }

  #lose(lease: HeldLease, why: string): void {
    this.#held.delete(lease.name);
    this.#options.logger.warn({ lease: lease.name, nonce: lease.nonce, why }, "lease lost");
    lease.end(why);
  }

  async #ask<Answer>(question: () => Promise<Answer>): Promise<Answer> {
    const { store, clock, logger } = this.#options;
    const askedAtMs = clock.monotonicMs();
    try {
      const answer = await question();
      this.#answeredAtMs = Math.max(this.#answeredAtMs, askedAtMs);
      if (this.#away) logger.info({ store: store.label }, "lease store back");
      this.#away = false;
      return answer;
    } catch (error) {
      if (error instanceof LeaseFault && !this.#away) {
        logger.warn({ store: store.label, err: error }, "lease store away");
        this.#away = true;
      }
      throw error;
    }
  }

  #noteHindrance(why: string | undefined): void {
    if (why !== undefined && !this.#hindered) this.#options.logger.warn({ why }, "not renewing");
    if (why === undefined && this.#hindered) this.#options.logger.info({}, "renewing again");
    this.#hindered = why !== undefined;
  }
}

/** It is logged by then, and what it spoiled is tried again or runs out by itself. */
function ignoreLeaseFault(error: unknown): void {
  if (!(error instanceof LeaseFault)) throw error;
}
