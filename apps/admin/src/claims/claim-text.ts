import type { PrefixClaim } from "@nightwriter/installation";

/** A claim for a person: whose, and when its owner was last here. */
export function claimText(claim: PrefixClaim | undefined): string {
  if (claim === undefined) return "nobody";
  return `installation ${claim.installation} (database ${claim.database}), last seen ${claim.seen} as ${claim.by}`;
}
