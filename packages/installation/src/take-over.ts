import type { ClaimSlot } from "./claim-slot.ts";
import type { Installation } from "./installation.ts";
import { InstallationFault } from "./installation-fault.ts";
import { claimOf, type PrefixClaim, readClaim, writeClaim } from "./prefix-claim.ts";

/** What {@link takeOver} found and left. */
export interface TakeOver {
  /** Undefined: the prefix was nobody's. */
  readonly before: PrefixClaim | undefined;
  /** Equal to `before` if it was ours already. */
  readonly after: PrefixClaim;
}

/**
 * Afterwards the prefix is this installation's, whoever had it. Processes of the former owner, if any still run, are refused
 * at their next look and end: their claim does not come back by itself. Throws InstallationFault `claim_moved`, and what the
 * slot throws.
 */
export async function takeOver(
  slot: ClaimSlot,
  installation: Installation,
  made: { readonly by: string; readonly now: Temporal.Instant },
): Promise<TakeOver> {
  const text = await slot.read();
  const before = text === undefined ? undefined : readClaim(text);
  if (before?.installation === installation.id) return { before, after: before };
  const claim = claimOf(installation, made);
  const after = before === undefined ? claim : { ...claim, takes: before.takes + 1 };
  const stands = await slot.replace(text, writeClaim(after));
  if (stands === writeClaim(after)) return { before, after };
  const details = { store: slot.label };
  const message = `claim in ${slot.label}: somebody else changed it in the same moment; look who has it and try again`;
  throw new InstallationFault("claim_moved", message, { details, retryable: true });
}
