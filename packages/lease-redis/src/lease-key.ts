/** How a lease is written in Redis. */
import { invariant } from "@nightwriter/core";
import type { LeaseClaim, LeaseSight } from "@nightwriter/lease";

/** The key of a lease. Only a name can have braces: in a cluster, leases spread over all nodes. */
export function leaseKey(prefix: string, name: string): string {
  invariant(/^[\w-]+$/.test(prefix), `lease prefix ${JSON.stringify(prefix)}: only letters, digits, _ and -`);
  invariant(/^[!-~]{1,200}$/.test(name), `lease name ${JSON.stringify(name)}: printable ASCII without spaces`);
  return `${prefix}:lease:${name}`;
}

/** The key of the claim of the installation. Queues of the same prefix have theirs under the same key, wherever they are. */
export function claimKey(prefix: string): string {
  invariant(/^[\w-]+$/.test(prefix), `lease prefix ${JSON.stringify(prefix)}: only letters, digits, _ and -`);
  return `${prefix}:claim`;
}

/** What the script RECLAIM takes: whether something must stand there, what, and what is to. */
export function reclaimValues(before: string | undefined, text: string): readonly string[] {
  return before === undefined ? ["0", "", text] : ["1", before, text];
}

/** What the scripts on the claim answer. */
export function claimText(answer: unknown): string | undefined {
  return typeof answer === "string" ? answer : undefined;
}

/** The value: holder and nonce. The nonce has no space in it, so the last space parts them. */
export function leaseValue({ holder, nonce }: LeaseClaim): string {
  invariant(/^[!-~]+$/.test(nonce), `lease nonce ${JSON.stringify(nonce)}: printable ASCII without spaces`);
  return `${holder} ${nonce}`;
}

/** What the script LOOK says of one lease; undefined: nobody has it. A value that is not ours is shown as its holder. */
export function leaseSight(answer: unknown): LeaseSight | undefined {
  const [value, left] = Array.isArray(answer) ? (answer as readonly unknown[]) : [];
  if (typeof value !== "string") return undefined;
  const end = value.lastIndexOf(" ");
  const [holder, nonce] = end < 0 ? [value, ""] : [value.slice(0, end), value.slice(end + 1)];
  return { holder, nonce, leftMs: typeof left === "number" && left >= 0 ? left : undefined };
}
