/** Jobs as rows, and looking at them: nothing in this file writes. */
import { Fault } from "@nightwriter/core";
import { type Database, type Schema, sqlFault } from "@nightwriter/database";
import type { Kysely } from "kysely";
import { codeVersionOf } from "./code-version.ts";
import type { JobDefinition } from "./job-definition.ts";
import { describeDifference, type History, type StoredVersion, standingOf, versionFault } from "./stored-version.ts";

/** A definition and the row that stands for it. */
export interface Job {
  /** 0: nobody has made the row yet, and nothing is stored under it. */
  readonly id: number;
  readonly definition: JobDefinition;
  /** The stored count when the row was read, which may differ from the definition's: {@link getPartitionCount} asks again. */
  readonly partitionCount: number;
  /** Business dates up to this one, included, are never planned again. Undefined: none is closed. */
  readonly closedThrough: Temporal.PlainDate | undefined;
  /**
   * The stored number of this build's source query: its entries carry it, and its writes land only while it is in force.
   * 0 if it never was: no write lands under it.
   */
  readonly queryVersion: number;
  /** Stored numbers of other queries: what was summed under them, this build cannot compute again. */
  readonly otherVersions: readonly number[];
  /** Whether this build's query was the one in force when the row was read. */
  readonly isCurrent: boolean;
  /** What is stored, for saying so. */
  readonly history: History;
}

/**
 * The job as it stands. Changes nothing, needs no more than to select, and answers from any checkout: whether this build may
 * write is {@link assertCurrent}'s question. A job that nobody has made yet is one that has done nothing: id 0. Throws SqlFault.
 */
export async function getJob({ db }: Database, definition: JobDefinition): Promise<Job> {
  try {
    return (await readJob(db, definition)) ?? unmade(definition);
  } catch (error) {
    throw sqlFault(error);
  }
}

/** The row and its history, in one snapshot. Undefined: nobody has made it. Throws the driver's error. */
export async function readJob(db: Kysely<Schema>, definition: JobDefinition): Promise<Job | undefined> {
  const rows = await db
    .selectFrom("nightwriter.job as job")
    .innerJoin("nightwriter.job_version as it", "it.job_id", "job.id")
    .select(["job.id", "job.partition_count", "job.closed_through", "job.query_version as in_force"])
    .select(["it.query_version", "it.code_version", "it.query_hash"])
    .where("job.name", "=", definition.name)
    .orderBy("it.query_version")
    .execute();
  const [row] = rows;
  if (row === undefined) return undefined;
  const versions = rows.map(({ query_version, code_version, query_hash }) => ({
    queryVersion: query_version,
    code: { number: code_version, queryHash: query_hash ?? undefined },
  }));
  return {
    id: row.id,
    definition,
    partitionCount: row.partition_count,
    closedThrough: row.closed_through === null ? undefined : Temporal.PlainDate.from(row.closed_through),
    ...placeIn({ queryVersion: row.in_force, versions }, definition),
  };
}

function placeIn(
  history: History,
  definition: JobDefinition,
): Pick<Job, "queryVersion" | "otherVersions" | "isCurrent" | "history"> {
  const code = codeVersionOf(definition);
  const standing = standingOf(code, history);
  const isMine = (stored: StoredVersion): boolean =>
    stored.code.number === code.number &&
    (stored.code.queryHash === code.queryHash ||
      (standing === "claim" && stored.queryVersion === history.queryVersion));
  return {
    queryVersion: history.versions.findLast(isMine)?.queryVersion ?? 0,
    otherVersions: history.versions.filter((stored) => !isMine(stored)).map((stored) => stored.queryVersion),
    isCurrent: standing === "current" || standing === "claim",
    history,
  };
}

function unmade(definition: JobDefinition): Job {
  const { partitionCount, queryVersion } = definition;
  return {
    id: 0,
    definition,
    partitionCount,
    closedThrough: undefined,
    queryVersion,
    otherVersions: [],
    isCurrent: true,
    history: { queryVersion, versions: [] },
  };
}

/** The job's partition count now: it changes between nights, while processes run. Throws SqlFault. */
export async function getPartitionCount({ db }: Database, job: Pick<Job, "id" | "partitionCount">): Promise<number> {
  try {
    const row = await db
      .selectFrom("nightwriter.job")
      .select("partition_count")
      .where("id", "=", job.id)
      .executeTakeFirst();
    return row?.partition_count ?? job.partitionCount;
  } catch (error) {
    throw sqlFault(error);
  }
}

/** Returns if this build's query was in force when the job was read. Throws a Fault of {@link JobFaultCode} that says what mends it. */
export function assertCurrent(job: Job): void {
  if (!job.isCurrent) throw versionFault(job.definition.name, codeVersionOf(job.definition), job.history);
}

/** One line for whoever looks from a checkout whose query is not the one in force; undefined when it is. */
export function findDifference({ definition, isCurrent, history }: Job): string | undefined {
  return isCurrent ? undefined : describeDifference(definition.name, codeVersionOf(definition), history);
}

/**
 * Returns if the stored number is still the one that this process sums under. Throws a Fault otherwise: this process must not
 * write any more, since an entry that was summed by another query is wrong without being touched.
 */
export function assertQueryVersion(stored: number, { definition: { name }, queryVersion }: Job): void {
  if (stored === queryVersion) return;
  throw new Fault(
    "query_version_differs",
    `job ${name}: this process sums under query version ${queryVersion}, and ${stored} is in force; deploy the newer build, or restart this one`,
    { details: { job: name, mine: queryVersion, stored } },
  );
}
