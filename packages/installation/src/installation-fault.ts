import { Fault } from "@nightwriter/core";

/**
 * - `prefix_claimed`: another installation uses the same prefix in the same store.
 * - `claim_moved`: somebody else changed the claim in the same moment. Retryable.
 * - `installation_missing`: the database has no epoch, so it is no installation yet.
 */
export type InstallationFaultCode = "prefix_claimed" | "claim_moved" | "installation_missing";

/** A fault about which installation this is, and which one a prefix belongs to. */
export class InstallationFault extends Fault<InstallationFaultCode> {
  override readonly name = "InstallationFault";
}
