import { recordAudit } from "@nightwriter/audit";
import { codeVersionOf, deployJob, describeCodeVersion, type Job, plannedDeploy } from "@nightwriter/job";
import { actor } from "../actor.ts";
import { type Answer, answer } from "../answer.ts";
import { openInstallation } from "../installation.ts";
import type { Terminal } from "../terminal.ts";

export interface DeployQueryOptions {
  readonly reason: string;
  readonly job: string;
  readonly dryRun: boolean;
}

/** Brings this checkout's source query into force, or says under which number that would be done. */
export async function deployQuery(terminal: Terminal, options: DeployQueryOptions): Promise<Answer> {
  const { job: jobName, dryRun, reason } = options;
  const purpose = dryRun ? "look" : "change";
  await using installation = await openInstallation(terminal, { verb: "jobs deploy", purpose, jobName });
  const { database, job } = installation;
  if (dryRun) return told({ job, before: job.history.queryVersion, after: plannedDeploy(job), dryRun });
  const { before, after } = await deployJob(database, job.definition, {
    reason,
    changed: (transaction, changed) =>
      recordAudit(transaction, {
        actor: actor(),
        verb: "jobs deploy",
        jobId: changed.after.id,
        arguments: { job: jobName },
        reason,
        before: changed.before.history,
        after: changed.after.history,
      }),
  });
  return told({ job: after, before: before.history.queryVersion, after: after.history.queryVersion, dryRun });
}

type Told = { readonly job: Job; readonly before: number; readonly after: number; readonly dryRun: boolean };

function told({ job: { definition }, before, after, dryRun }: Told): Answer {
  const build = codeVersionOf(definition);
  const version = `${definition.name}: query version ${describeCodeVersion(build)}`;
  const will = dryRun ? "would be" : "is";
  const text =
    before === after
      ? `${version} ${will} in force as it was, stored as ${after}`
      : `${version} ${will} in force from now on, stored as ${after}, ${before} before`;
  const document = { job: definition.name, dryRun, changed: before !== after && !dryRun, build, before, after };
  return answer({ inOrder: true, document, text });
}
