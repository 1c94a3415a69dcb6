import { randomUUID } from "node:crypto";
import { systemClock } from "@nightwriter/core";
import { ensureRequestedRun } from "@nightwriter/run";
import type { Answer } from "../answer.ts";
import { assertNotFarAhead } from "../arguments/business-date.ts";
import { openInstallation } from "../installation.ts";
import { carryOut } from "../nights/carry-out.ts";
import type { Terminal } from "../terminal.ts";

export interface RerunOptions {
  readonly date: Temporal.PlainDate;
  readonly job: string;
  readonly wait: boolean;
  readonly requestId?: string | undefined;
}

/** Plans a night's items again, in a new run. */
export async function rerunNight(terminal: Terminal, { date, job, wait, requestId }: RerunOptions): Promise<Answer> {
  assertNotFarAhead(date, systemClock.now());
  await using installation = await openInstallation(terminal, {
    verb: "rerun",
    purpose: "plan",
    jobName: job,
    patient: true,
  });
  const request = { kind: "rerun", businessDate: date, requestId: requestId ?? randomUUID() } as const;
  const plan = async () => ensureRequestedRun(installation.database, installation.job, request);
  return await carryOut(terminal, installation, { plans: [plan], wait });
}
