import type { Clock, Logger } from "@nightwriter/core";
import { type Database, startThroughWeather } from "@nightwriter/database";
import type { ClaimSlot } from "./claim-slot.ts";
import { claimEveryMs, createClaimant } from "./claimant.ts";
import { currentInstallation } from "./installation.ts";
import { watchClaims } from "./watch-claims.ts";

/** What a process claims, how often it compares, and what it does when it is refused. */
export interface HoldClaimsOptions {
  readonly database: Database;
  /** QUEUE_PREFIX. */
  readonly prefix: string;
  /** One for each store that is shared under the prefix. */
  readonly slots: readonly ClaimSlot[];
  /** This process, for people. */
  readonly by: string;
  readonly leaseMs: number;
  /** Who only looks compares and never claims. Default: false. */
  readonly onlyLooks?: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called once with what no waiting mends: another installation's claim, a store that does not let us in. Must end the process. */
  readonly crash: (fault: unknown) => void;
}

/**
 * Once it returns the prefix is this installation's in every store, and it is compared again at least as often as leases are renewed,
 * until disposal. Throws InstallationFault `prefix_claimed`, SqlFault, and what the stores throw.
 */
export async function holdClaims(options: HoldClaimsOptions): Promise<Disposable> {
  const { database, leaseMs, onlyLooks = false, clock, logger, crash } = options;
  const installation = await startThroughWeather(async () => currentInstallation(database), { logger });
  const claimant = createClaimant({ ...options, installation });
  const look = async (): Promise<void> => (onlyLooks ? claimant.check() : claimant.look());
  await look();
  return watchClaims({ look, everyMs: claimEveryMs(leaseMs), clock, logger, crash });
}
