import { loadConfig } from "@nightwriter/config";
import { assertSchemaCompatible } from "@nightwriter/database";
import { type CodeVersion, codeVersionOf, describeCodeVersion, getJob, type Job } from "@nightwriter/job";
import { type Answer, answer } from "../answer.ts";
import { connectDatabase } from "../connect-database.ts";
import { definitions } from "../jobs.ts";
import { openLogger } from "../open-logger.ts";
import { renderTable } from "../output/table.ts";
import type { Terminal } from "../terminal.ts";

/** Says which jobs there are, and which source query of each is in force. */
export async function listJobs(terminal: Terminal): Promise<Answer> {
  const config = loadConfig();
  const logger = openLogger(terminal, config);
  await using database = await connectDatabase({ config, verb: "jobs", logger });
  await assertSchemaCompatible(database);
  const jobs = await Promise.all(definitions.map(async (definition) => getJob(database, definition)));
  return answer({
    inOrder: jobs.every(({ isCurrent }) => isCurrent),
    document: { jobs: jobs.map(jobDocument) },
    text: renderTable(columns, jobs.map(jobRow)),
  });
}

const columns = [
  { title: "job" },
  { title: "partitions", align: "right" },
  { title: "closed through" },
  { title: "stored", align: "right" },
  { title: "in force" },
  { title: "this checkout" },
  { title: "" },
] as const;

function jobRow(job: Job): string[] {
  const { definition, partitionCount, closedThrough, history, isCurrent } = job;
  const inForce = codeInForce(job);
  return [
    definition.name,
    String(partitionCount),
    closedThrough?.toString() ?? "nothing",
    inForce === undefined ? "" : String(history.queryVersion),
    inForce === undefined ? "not made yet" : describeCodeVersion(inForce),
    describeCodeVersion(codeVersionOf(definition)),
    isCurrent ? "" : "NOT IN FORCE",
  ];
}

function jobDocument(job: Job): unknown {
  const { definition, partitionCount, closedThrough, history, isCurrent } = job;
  return {
    job: definition.name,
    partitions: partitionCount,
    closedThrough,
    queryVersion: history.queryVersion,
    inForce: codeInForce(job),
    build: codeVersionOf(definition),
    current: isCurrent,
    history: history.versions,
  };
}

/** Undefined: nobody has made the job yet. */
function codeInForce({ history }: Job): CodeVersion | undefined {
  return history.versions.find(({ queryVersion }) => queryVersion === history.queryVersion)?.code;
}
