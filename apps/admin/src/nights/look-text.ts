/** How the nights stand, for people and for machines. */
import type { NightsLook } from "@nightwriter/nights";
import { formatInstant, plural } from "../output/format.ts";
import type { Finding } from "./findings.ts";

/** A line per finding: what is the matter, and the command that mends it. Nothing when all is well. */
export function findingsText(findings: readonly Finding[]): string {
  return findings.map(({ kind, fact, remedy }) => `${kind}: ${fact}; mend it with: ${remedy}`).join("\n");
}

/** Who leads, who stands by, how many workers there are. */
export function processesText({ schedulers, workers }: NightsLook): string {
  const alive = schedulers.filter((each) => each.alive);
  const leader = alive.find(({ leads }) => leads);
  const led = leader === undefined ? "" : `, ${leader.name} leads since ${formatInstant(leader.since)}`;
  return `${plural(alive.length, "scheduler")} alive${led}; ${plural(workers.length, "worker")} alive`;
}

/** The same facts as a document: instants and dates as ISO 8601 texts. */
export function lookDocument({ now, missing, early, overdue, parked, schedulers, workers, due }: NightsLook): object {
  return {
    now,
    missing,
    early,
    overdue: overdue.map(({ status, reason }) => ({
      run: status.run.id,
      kind: status.run.kind,
      date: status.run.businessDate,
      reason,
      due: status.due,
      paused: status.paused,
    })),
    parked,
    due,
    schedulers,
    workers,
  };
}
