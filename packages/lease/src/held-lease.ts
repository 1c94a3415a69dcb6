import type { Clock } from "@nightwriter/core";
import type { Lease } from "./lease-keeper.ts";
import type { LeaseClaim } from "./lease-store.ts";

/** A lease with the trust that its holder may have in it. */
export class HeldLease implements Lease {
  readonly name: string;
  readonly holder: string;
  readonly nonce: string;
  readonly storeToken: bigint | undefined;
  readonly lost: AbortSignal;
  readonly claim: LeaseClaim;
  readonly #clock: Clock;
  readonly #over = new AbortController();
  #trustedUntilMs: number;

  constructor(claim: LeaseClaim, given: { storeToken: bigint | undefined; clock: Clock; trustedUntilMs: number }) {
    this.claim = claim;
    this.name = claim.name;
    this.holder = claim.holder;
    this.nonce = claim.nonce;
    this.storeToken = given.storeToken;
    this.lost = this.#over.signal;
    this.#clock = given.clock;
    this.#trustedUntilMs = given.trustedUntilMs;
  }

  leftMs(): number {
    return this.#trustedUntilMs - this.#clock.monotonicMs();
  }

  /** Answers may overtake each other: trust is never shortened by a renewal. */
  trustUntil(monotonicMs: number): void {
    this.#trustedUntilMs = Math.max(this.#trustedUntilMs, monotonicMs);
  }

  /** Whatever the clock says, it is over. */
  end(why: string): void {
    this.#trustedUntilMs = Number.NEGATIVE_INFINITY;
    this.#over.abort(why);
  }
}
