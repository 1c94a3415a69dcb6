/** What a claim says, and how it is written. */
import { z } from "zod";
import type { ClaimSlot } from "./claim-slot.ts";
import type { Installation } from "./installation.ts";

/** Whose a prefix is. Instants are ISO 8601 texts, by the clocks of the processes that wrote them. */
export interface PrefixClaim {
  /** The installation's id. */
  readonly installation: string;
  /** How people know its database: shown, never compared. */
  readonly database: string;
  /** Since when the prefix is this installation's; set again as it was after the store has forgotten it. */
  readonly since: string;
  /** How often the prefix was taken over by hand before: a claim that was taken over is never put back by its former owner. */
  readonly takes: number;
  /** When a process of the installation was here last, to about a minute, and which. */
  readonly seen: string;
  readonly by: string;
}

/** Fields that a later build adds are kept. */
const shape = z.looseObject({
  installation: z.string(),
  database: z.string(),
  since: z.iso.datetime(),
  takes: z.int().min(0),
  seen: z.iso.datetime(),
  by: z.string(),
});

/** The claim in a slot; undefined: nobody has claimed. What cannot be read is a claim of somebody unknown. Throws what the slot throws. */
export async function findClaim(slot: ClaimSlot): Promise<PrefixClaim | undefined> {
  const text = await slot.read();
  return text === undefined ? undefined : readClaim(text);
}

export function readClaim(text: string): PrefixClaim {
  try {
    return shape.parse(JSON.parse(text));
  } catch {
    const never = "1970-01-01T00:00:00Z";
    return {
      installation: text.slice(0, 100),
      database: "unknown",
      since: never,
      takes: 0,
      seen: never,
      by: "unknown",
    };
  }
}

export function writeClaim(claim: PrefixClaim): string {
  return JSON.stringify(claim);
}

/** A claim of this installation, made now. */
export function claimOf({ id, database }: Installation, made: { by: string; now: Temporal.Instant }): PrefixClaim {
  const now = made.now.round("millisecond").toString();
  return { installation: id, database, since: now, takes: 0, seen: now, by: made.by };
}

/** Whether the first is to stand where the second does: it was taken over more often, or as often and is older. */
export function outranks(one: PrefixClaim, other: PrefixClaim): boolean {
  if (one.takes !== other.takes) return one.takes > other.takes;
  return Temporal.Instant.compare(one.since, other.since) < 0;
}
