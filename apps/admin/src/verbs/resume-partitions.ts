import { recordAudit } from "@nightwriter/audit";
import { sqlFault } from "@nightwriter/database";
import { actor } from "../actor.ts";
import { type Answer, answer } from "../answer.ts";
import { openInstallation } from "../installation.ts";
import { pausedPartitions } from "../nights/paused-queues.ts";
import { plural } from "../output/format.ts";
import type { Terminal } from "../terminal.ts";

export interface ResumeOptions {
  readonly job: string;
  readonly reason?: string | undefined;
}

/** Lets workers take from every queue that somebody has paused by hand. Twice is once. */
export async function resumePartitions(terminal: Terminal, { job: jobName, reason }: ResumeOptions): Promise<Answer> {
  const verb = "partitions resume";
  await using installation = await openInstallation(terminal, { verb, purpose: "change", jobName });
  const { database, job } = installation;
  const queues = await installation.queues();
  const paused = await pausedPartitions(installation);
  if (paused.length > 0) {
    // A record of what was not done after all is the lesser evil: the queue's store knows no transaction of the database.
    await database.db
      .transaction()
      .execute(async (transaction) =>
        recordAudit(transaction, {
          actor: actor(),
          verb,
          jobId: job.id,
          reason,
          before: { paused },
          after: { paused: [] },
        }),
      )
      .catch((error: unknown) => Promise.reject(sqlFault(error)));
    for (const partition of paused) await queues.partition(partition).resume();
  }
  const text =
    paused.length === 0
      ? `${jobName}: no queue was paused; nothing was changed`
      : `${jobName}: ${plural(paused.length, "queue")} resumed, of ${paused.length === 1 ? "partition" : "partitions"} ${paused.join(", ")}`;
  return answer({ inOrder: true, document: { job: jobName, resumed: paused }, text });
}
