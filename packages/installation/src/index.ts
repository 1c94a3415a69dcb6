export { claimPlace } from "./claim-place.ts";
export type { ClaimSlot } from "./claim-slot.ts";
export { type Claimant, type ClaimantOptions, createClaimant } from "./claimant.ts";
export { type Fork, forkInstallation } from "./fork-installation.ts";
export { type HoldClaimsOptions, holdClaims } from "./hold-claims.ts";
export { currentInstallation, type Installation } from "./installation.ts";
export { InstallationFault, type InstallationFaultCode } from "./installation-fault.ts";
export { findClaim, type PrefixClaim } from "./prefix-claim.ts";
export { type TakeOver, takeOver } from "./take-over.ts";
