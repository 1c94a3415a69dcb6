import { findClaim, type Installation, type PrefixClaim } from "@nightwriter/installation";
import { type Answer, answer } from "../answer.ts";
import { claimText } from "../claims/claim-text.ts";
import { openClaims } from "../claims/open-claims.ts";
import type { Terminal } from "../terminal.ts";

/** Says which installation this is, and whose the prefix is in each store. */
export async function showInstallation(terminal: Terminal): Promise<Answer> {
  await using opened = await openClaims(terminal, "installation");
  const { config, installation, slots } = opened;
  const claims: { store: string; owner: string; claim: PrefixClaim | null }[] = [];
  for (const slot of slots) {
    const claim = await findClaim(slot);
    claims.push({ store: slot.label, owner: ownerOf(claim, installation), claim: claim ?? null });
  }
  const lines = claims.map(
    ({ store, owner, claim }) => `prefix ${config.queuePrefix} of ${store}: ${owner}: ${claimText(claim ?? undefined)}`,
  );
  return answer({
    inOrder: claims.every(({ owner }) => owner !== "another's"),
    document: { installation, prefix: config.queuePrefix, claims },
    text: [`installation ${installation.id} (database ${installation.database})`, ...lines].join("\n"),
  });
}

function ownerOf(claim: PrefixClaim | undefined, { id }: Installation): "another's" | "nobody's" | "ours" {
  if (claim === undefined) return "nobody's";
  return claim.installation === id ? "ours" : "another's";
}
