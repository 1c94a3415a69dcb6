import { resizePartitions } from "@nightwriter/run";
import { type Answer, answer } from "../answer.ts";
import { openInstallation } from "../installation.ts";
import { plural } from "../output/format.ts";
import type { Terminal } from "../terminal.ts";

export interface ResizeOptions {
  readonly count: number;
  readonly job: string;
}

/** Gives a job another number of partitions, or throws the RunFault that says what is in flight. */
export async function resizeJobPartitions(terminal: Terminal, { count, job: jobName }: ResizeOptions): Promise<Answer> {
  await using installation = await openInstallation(terminal, {
    verb: "partitions resize",
    purpose: "change",
    jobName,
    patient: true,
  });
  const { database, job, logger } = installation;
  const resized = await resizePartitions(database, job, count);
  const { before, after, fencingToken, movedItems } = resized;
  if (fencingToken === undefined) {
    const text = `${jobName}: has ${plural(after, "partition")} already; nothing was changed`;
    return answer({ inOrder: true, document: { job: jobName, changed: false, ...resized }, text });
  }
  // At a level that a verb's logger shows by default: who changed this, and when, is asked for later.
  logger.warn({ job: jobName, before, after, fencingToken, movedItems }, "partitions resized");
  return answer({
    inOrder: true,
    document: { job: jobName, changed: true, ...resized },
    text: [
      `${jobName}: ${plural(after, "partition")} from now on, ${before} before; fencing token ${fencingToken}`,
      ...(movedItems === 0 ? [] : [`${plural(movedItems, "item")} that wait for a person moved with their keys`]),
    ].join("\n"),
  });
}
