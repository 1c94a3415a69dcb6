/**
 * Where leases live: the port that every store implements, and that one contract suite holds them to.
 *
 * A lease is a time-bounded right to consume one partition, or to lead one duty. It saves work and proves nothing: a
 * holder that was frozen may act after its lease has ended, a store may forget. What must be right is guarded by the
 * database, see the ledger.
 */
import { Fault } from "@nightwriter/core";
import type { ClaimSlot } from "@nightwriter/installation";

/** The exact identity of one holding. Whoever holds the same lease again later does so under another nonce. */
export interface LeaseClaim {
  /** What is leased: printable ASCII without spaces, at most 200 characters. */
  readonly name: string;
  /** The process. */
  readonly holder: string;
  /** A UUID, drawn for each try to acquire. */
  readonly nonce: string;
}

export interface LeaseGrant {
  /**
   * The store's own number for this holding, larger than those of all earlier holdings of the lease (etcd's revision,
   * ZooKeeper's zxid). Undefined: the store has none that can be relied on. Never a fencing token of the ledger, which
   * must come from where the data is.
   */
  readonly storeToken: bigint | undefined;
}

/** A lease as anybody sees it. */
export interface LeaseSight {
  readonly holder: string;
  readonly nonce: string;
  /** Milliseconds that the store would keep it if nobody renewed it, as far as the store can say. */
  readonly leftMs: number | undefined;
}

/**
 * The store of leases of one process, with one length for all of them. Each call answers within a third of that length or
 * throws a LeaseFault; a call that threw may have had its effect, and may be repeated with the same claims.
 *
 * A store may grant a lease twice only by forgetting (a failover, a clock that jumps): never while it remembers.
 */
export interface LeaseStore extends AsyncDisposable {
  readonly kind: "redis" | "postgres" | "redlock" | "etcd" | "zookeeper";
  /** For messages: kind and servers, without passwords. */
  readonly label: string;
  /** The length of a lease, in milliseconds, from when the store handles the request. */
  readonly ttlMs: number;
  /**
   * Takes the lease if nobody has it. Undefined: somebody else has, also an earlier term of the same holder. A claim that
   * has it already (its answer was lost) is granted again, for the whole length.
   */
  acquire(claim: LeaseClaim): Promise<LeaseGrant | undefined>;
  /**
   * Extends to the whole length each lease that is exactly the claim's, all in one round trip (one for each server).
   * Returns the names of those that were; the others were taken, ended or forgotten, and are not taken again.
   */
  renew(claims: readonly LeaseClaim[]): Promise<ReadonlySet<string>>;
  /** Ends each lease that is exactly the claim's, and leaves the others alone. */
  release(claims: readonly LeaseClaim[]): Promise<void>;
  /** Who has these leases now; those that nobody has are left out. */
  find(names: readonly string[]): Promise<ReadonlyMap<string, LeaseSight>>;
  /** Whose leases these are: never expires, and no lease is in its way. Its calls throw LeaseFault and are as quick as the others. */
  readonly claimSlot: ClaimSlot;
  /** Closes the connections. Leases that were not released run out by themselves. */
  close(): Promise<void>;
}

/** Nobody ever holds it: what is looked up to see that a store answers. It may answer a look at no leases without being asked. */
export const nobodysLease = "nobody";

/**
 * - `lease_store_away`: no answer in time, no connection, no majority. Retryable.
 * - `lease_store_unfit`: the server answers and cannot be used: wrong password, a replica, a missing table.
 * - `lease_url_invalid`: the URL of the store is not one.
 */
export type LeaseFaultCode = "lease_store_away" | "lease_store_unfit" | "lease_url_invalid";

export class LeaseFault extends Fault<LeaseFaultCode> {
  override readonly name = "LeaseFault";
}
