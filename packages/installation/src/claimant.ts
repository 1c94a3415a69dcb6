/**
 * A process that claims a prefix for its installation, in each store that it uses.
 *
 *     nobody's ──look──▶ ours ──look──▶ ours, seen a moment ago
 *                         │  ▲
 *            the store forgets │ whoever of us looks next sets it again, as old as it was
 *                         ▼  │
 *                nobody's, or another's that came meanwhile ──▶ ours again: the older claim stands, the other one is refused
 *
 *     another's ──look──▶ refused, unless it came after ours as above
 *     ours ──taken over by hand──▶ another's: refused from then on, since a claim that was taken over more often stands
 *
 * It saves two installations from eating each other's queue jobs, and proves nothing: totals are right without it.
 */
import type { Clock, Logger } from "@nightwriter/core";
import type { ClaimSlot } from "./claim-slot.ts";
import type { Installation } from "./installation.ts";
import { InstallationFault } from "./installation-fault.ts";
import { claimOf, outranks, type PrefixClaim, readClaim, writeClaim } from "./prefix-claim.ts";

/** Who claims what, and where. */
export interface ClaimantOptions {
  readonly installation: Installation;
  /** QUEUE_PREFIX, for messages: the slots know it already. */
  readonly prefix: string;
  /** One for each store that is shared under the prefix. */
  readonly slots: readonly ClaimSlot[];
  /** This process, for people. */
  readonly by: string;
  readonly clock: Clock;
  /** Gets "claim set again" and "claim taken back": a store has forgotten. */
  readonly logger: Logger;
}

/** Remembers, for as long as the process lives, which claims were its installation's. */
export interface Claimant {
  /**
   * Afterwards every slot has this installation's claim. Throws InstallationFault `prefix_claimed`, and what the slots
   * throw: then it is not known, and the next look tells.
   */
  look(): Promise<void>;
  /** The same without setting anything: for who only looks. A prefix that is nobody's is as good as ours. */
  check(): Promise<void>;
}

/** How often claims are compared: at least as often as leases are renewed. */
export function claimEveryMs(leaseMs: number): number {
  return Math.min(leaseMs / 3, 10_000);
}

/** A claim says to about this when its installation was there last: it is not written at every look. */
const seenEveryMs = 60_000;

/** Remembers nothing yet, and asks no store before it is told to look. */
export function createClaimant(options: ClaimantOptions): Claimant {
  const ours = new Map<ClaimSlot, PrefixClaim>();
  return {
    async look() {
      for (const slot of options.slots) ours.set(slot, await claimSlot(options, slot, ours.get(slot)));
    },
    async check() {
      for (const slot of options.slots) {
        const text = await slot.read();
        if (text !== undefined) assertOurs(options, slot, readClaim(text));
      }
    },
  };
}

/** However many come into a store at once that has forgotten: each of them loses to one that is there then. */
const triesAtMost = 5;

/** The claim that stands in the slot, if it is ours. `before`: the one that was ours at the last look. */
async function claimSlot(
  options: ClaimantOptions,
  slot: ClaimSlot,
  before: PrefixClaim | undefined,
): Promise<PrefixClaim> {
  let stands = await tryClaim(options, slot, before);
  // Somebody else's came between look and change. What stands then is compared like what is found.
  for (let tries = 1; tries < triesAtMost && stands.installation !== options.installation.id; tries++) {
    stands = await tryClaim(options, slot, before);
  }
  assertOurs(options, slot, stands);
  return stands;
}

/** One look and, where it is due, one change; answers what stands then. */
async function tryClaim(
  options: ClaimantOptions,
  slot: ClaimSlot,
  before: PrefixClaim | undefined,
): Promise<PrefixClaim> {
  const { installation, by, clock, logger } = options;
  const now = clock.now();
  const fresh = claimOf(installation, { by, now });
  const mine = before === undefined ? fresh : { ...fresh, since: before.since, takes: before.takes };
  const text = await slot.read();
  const found = text === undefined ? undefined : readClaim(text);
  if (found?.installation === installation.id) {
    const isStale = Temporal.Instant.from(found.seen).until(now).total("milliseconds") > seenEveryMs;
    // Whoever else is writing it now says as much.
    if (isStale) await slot.replace(text, writeClaim({ ...found, ...fresh, since: found.since, takes: found.takes }));
    return found;
  }
  if (found !== undefined && !(before !== undefined && outranks(before, found))) assertOurs(options, slot, found);
  const stands = await slot.replace(text, writeClaim(mine));
  const claim = stands === undefined ? mine : readClaim(stands);
  if (claim.installation !== installation.id) return claim;
  const fields = { store: slot.label, since: claim.since };
  if (found !== undefined) {
    const other = { installation: found.installation, database: found.database };
    logger.warn(
      { ...fields, other },
      "claim taken back: its store had forgotten it, and another installation had come",
    );
  } else if (before !== undefined) {
    logger.warn(fields, "claim set again: its store had forgotten it");
  }
  return claim;
}

function assertOurs({ installation, prefix }: ClaimantOptions, slot: ClaimSlot, claim: PrefixClaim): void {
  if (claim.installation === installation.id) return;
  const other = `installation ${claim.installation} (database ${claim.database}, last seen ${claim.seen} as ${claim.by})`;
  const here = `installation ${installation.id} (database ${installation.database})`;
  throw new InstallationFault(
    "prefix_claimed",
    `prefix ${prefix} of ${slot.label}: is claimed by ${other}, and this is ${here}; set another QUEUE_PREFIX, or, ` +
      `if the other one is gone for good, run: nightwriter installation take-over --reason TEXT`,
    {
      details: {
        prefix,
        store: slot.label,
        installation: installation.id,
        database: installation.database,
        claimedBy: claim.installation,
        claimedDatabase: claim.database,
        seen: claim.seen,
      },
    },
  );
}
