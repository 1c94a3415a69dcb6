import { recordAudit } from "@nightwriter/audit";
import { Fault, systemClock } from "@nightwriter/core";
import { sqlFault } from "@nightwriter/database";
import { findClaim, takeOver } from "@nightwriter/installation";
import { actor } from "../actor.ts";
import { type Answer, answer } from "../answer.ts";
import { claimText } from "../claims/claim-text.ts";
import { type OpenedClaims, openClaims } from "../claims/open-claims.ts";
import type { Terminal } from "../terminal.ts";

export interface TakeOverOptions {
  readonly reason: string;
  readonly dryRun: boolean;
}

/** Makes the prefix this installation's in every store where it is another's. */
export async function takeOverPrefix(terminal: Terminal, { reason, dryRun }: TakeOverOptions): Promise<Answer> {
  await using opened = await openClaims(terminal, "installation take-over");
  const { config, installation, slots } = opened;
  const looked = await Promise.all(slots.map(async (slot) => ({ slot, before: await findClaim(slot) })));
  const others = looked.filter(({ before }) => before?.installation !== installation.id);
  if (!dryRun && others.length > 0) await take(opened, { reason, looked: others });
  const verb = dryRun ? "would be taken over" : "taken over";
  const lines = others.map(
    ({ slot, before }) => `prefix ${config.queuePrefix} of ${slot.label}: ${verb}; had it before: ${claimText(before)}`,
  );
  return answer({
    inOrder: true,
    document: {
      installation,
      prefix: config.queuePrefix,
      changed: !dryRun && others.length > 0,
      stores: others.map(({ slot, before }) => ({ store: slot.label, before: before ?? null })),
    },
    text:
      lines.length === 0
        ? `prefix ${config.queuePrefix}: is this installation's already; nothing was changed`
        : lines.join("\n"),
  });
}

interface Taking {
  readonly reason: string;
  readonly looked: readonly { readonly slot: OpenedClaims["slots"][number]; readonly before: unknown }[];
}

/**
 * A store after the other, each with its own record: one that is away takes nothing back of what was done before. The record is committed
 * last: a take-over without it may be seen if the database is lost in that moment, never the reverse.
 */
async function take({ config, database, installation }: OpenedClaims, { reason, looked }: Taking): Promise<void> {
  const made = { by: config.workerName, now: systemClock.now() };
  try {
    for (const { slot, before } of looked) {
      await database.db.transaction().execute(async (transaction) => {
        await recordAudit(transaction, {
          actor: actor(),
          verb: "installation take-over",
          arguments: { prefix: config.queuePrefix, store: slot.label },
          reason,
          before: before ?? null,
          after: installation,
        });
        await takeOver(slot, installation, made);
      });
    }
  } catch (error) {
    throw error instanceof Fault ? error : sqlFault(error);
  }
}
