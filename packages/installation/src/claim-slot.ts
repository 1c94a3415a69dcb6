/**
 * The one place under a prefix where the claim of an installation stands: the port that every store of leases and of queues
 * implements, and that one contract suite holds them to.
 *
 * What stands there outlives every process and runs out for nobody. A store may forget it, as it may forget all else (a
 * flush, a failover): then it is set again by whoever looks first, see claimant.ts.
 */
export interface ClaimSlot {
  /** For messages: what is kept there and where, without passwords: `the queue in redis at cache:6379`. */
  readonly label: string;
  /**
   * The text that stands there; undefined: none. It asks the store for what a night needs of it, so it throws the
   * store's fault also where the store answers and would take no writes.
   */
  read(): Promise<string | undefined>;
  /**
   * Puts `text` there if exactly `before` stands there (undefined: nothing does), and answers what stands there afterwards.
   * A call that threw may have had its effect.
   */
  replace(before: string | undefined, text: string): Promise<string | undefined>;
}
