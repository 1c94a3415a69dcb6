/**
 * What becomes of a build that meets a job: the decision alone, from the job's history.
 *
 * A build is current only by number *and* hash: by number alone, a query changed without raising it would be summed into the
 * same totals in silence. A process brings in only what was never stored and is above everything that was: so a restarted
 * old worker never takes a job back, and looking from a newer checkout, which brings in nothing, never takes it forward.
 * What was replaced comes back by a person's act, and under a new stored number: entries then say which of both summed them.
 */
import { Fault } from "@nightwriter/core";
import { type CodeVersion, describeCodeVersion } from "./code-version.ts";

/** A source query that is or was in force. */
export interface StoredVersion {
  /** Only rises; entries carry it. */
  readonly queryVersion: number;
  readonly code: CodeVersion;
}

/**
 * - `query_version_differs`: this build's source query is not the one in force; it must write nothing.
 * - `query_version_reused`: the number stands for another query; nothing brings this build in before it is raised.
 */
export type JobFaultCode = "query_version_differs" | "query_version_reused";

/** All stored versions, and which is in force. */
export interface History {
  readonly queryVersion: number;
  readonly versions: readonly StoredVersion[];
}

/**
 * - `current`: in force; `claim`: it is, by its number, and nobody knows the hash of what is stored.
 * - `new`: never stored, and above all that were.
 * - `replaced`: was in force once, or is below what was; `reused`: its number is another query's.
 */
export type Standing = "current" | "claim" | "new" | "replaced" | "reused";

/** How a build's query stands to what is stored. */
export function standingOf(code: CodeVersion, { queryVersion, versions }: History): Standing {
  const named = versions.filter((stored) => stored.code.number === code.number);
  const inForce = named.find((stored) => stored.queryVersion === queryVersion);
  if (named.some(({ code: { queryHash } }) => queryHash !== undefined && queryHash !== code.queryHash)) return "reused";
  if (inForce !== undefined) return inForce.code.queryHash === undefined ? "claim" : "current";
  return versions.every((stored) => stored.code.number < code.number) ? "new" : "replaced";
}

/** The stored number of what comes in force next: the code's own where that is free, so that people read one number. */
export function nextQueryVersion({ number }: CodeVersion, { queryVersion }: History): number {
  return Math.max(queryVersion + 1, number);
}

/** The fault of a build that is not in force, with what mends it. */
export function versionFault(name: string, code: CodeVersion, history: History): Fault<JobFaultCode> {
  const standing = standingOf(code, history);
  return new Fault(
    standing === "reused" ? "query_version_reused" : "query_version_differs",
    `${describeDifference(name, code, history)}; ${remedies[standing]}`,
    { details: { job: name, build: code.number, buildHash: code.queryHash, stored: history.queryVersion } },
  );
}

/** The fact alone, without what follows from it. */
export function describeDifference(name: string, code: CodeVersion, { queryVersion, versions }: History): string {
  const stored = versions.find((each) => each.queryVersion === queryVersion);
  const inForce = `${stored === undefined ? "another" : describeCodeVersion(stored.code)}, stored as ${queryVersion}`;
  return `job ${name}: this build's query version ${describeCodeVersion(code)} is not the one in force, ${inForce}`;
}

const remedies: Readonly<Record<Standing, string>> = {
  new: "a worker or a scheduler of this build brings it in",
  replaced: "deploy the newer build, or bring this one back with: nightwriter jobs deploy",
  reused: "its number stands for another query, so raise queryVersion in the job's definition",
  // Not of a build that is refused; here so that every standing has its words.
  current: "nothing is to be done",
  claim: "nothing is to be done",
};
