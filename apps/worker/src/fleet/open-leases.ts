/** The leases of this process: where they live, who keeps them, and how they are seen from outside. */
import type { Config } from "@nightwriter/config";
import type { Clock, Logger } from "@nightwriter/core";
import type { LeaseObstacle, LeaseStore } from "@nightwriter/lease";
import { createLeaseKeeper, type LeaseKeeper } from "@nightwriter/lease";
import { openLeaseStore } from "@nightwriter/lease-stores";
import { createUnheld, type Unheld } from "./unheld.ts";

export interface OpenLeases extends AsyncDisposable {
  readonly keeper: LeaseKeeper;
  readonly unheld: Unheld;
  readonly claimSlot: LeaseStore["claimSlot"];
  /** Milliseconds since the store answered anything. Infinity: never yet. */
  answeredAgoMs(): number;
}

export interface OpenLeasesOptions {
  readonly config: Config;
  readonly obstacle: Pick<LeaseObstacle, "why">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Connects to the lease store. Disposal gives back what is still held. Throws LeaseFault, and leaves no connection behind when it does. */
export async function openLeases({ config, obstacle, clock, logger }: OpenLeasesOptions): Promise<OpenLeases> {
  const store = await openLeaseStore({
    url: config.leaseUrl,
    prefix: config.queuePrefix,
    ttlMs: config.leaseMs,
    applicationName: `${config.workerName} leases`,
    logger,
  });
  const keeper = createLeaseKeeper({
    store,
    holder: config.workerName,
    marginMs: config.leaseMarginMs,
    clock,
    random: Math.random,
    logger,
    obstacle: () => obstacle.why(),
  });
  const unheld = createUnheld(store, clock);
  return {
    keeper,
    unheld,
    claimSlot: store.claimSlot,
    answeredAgoMs: () => Math.min(keeper.answeredAgoMs(), unheld.answeredAgoMs()),
    async [Symbol.asyncDispose]() {
      await keeper.stop();
      await store.close();
    },
  };
}
