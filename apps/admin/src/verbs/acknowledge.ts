import { acknowledgeFindings, describeViolation } from "@nightwriter/ledger";
import { databaseNow } from "@nightwriter/schedule";
import { actor } from "../actor.ts";
import { type Answer, answer } from "../answer.ts";
import { openInstallation } from "../installation.ts";
import { plural } from "../output/format.ts";
import { startProgress } from "../output/progress.ts";
import type { Terminal } from "../terminal.ts";
import { UsageFault } from "../usage-fault.ts";

export interface AcknowledgeOptions {
  readonly findings: readonly string[];
  readonly reason: string;
  readonly withdraw: boolean;
  readonly job: string;
}

/** Marks findings as looked into, or takes that back. All of them, or none if verify does not find one. */
export async function acknowledge(terminal: Terminal, options: AcknowledgeOptions): Promise<Answer> {
  const { reason, withdraw, job: jobName } = options;
  await using installation = await openInstallation(terminal, { verb: "acknowledge", jobName, patient: true });
  const { database, job } = installation;
  const progress = startProgress(terminal, { label: "steps done" });
  const findings = [...new Set(options.findings.map((each) => each.toLowerCase()))];
  const acknowledging = await acknowledgeFindings(database, job, {
    findings,
    withdraw,
    actor: actor(),
    reason,
    now: await databaseNow(database),
    onProgress: ({ done, of }) => progress.update(done, of),
  }).finally(() => progress.stop());
  if (acknowledging.outcome === "unknown") {
    const unknown = acknowledging.findings.join(", ");
    throw new UsageFault(`finding ${unknown}: verify finds no such; nothing was changed, see what it finds now`);
  }
  const { changed } = acknowledging;
  const verb = withdraw ? "no longer acknowledged" : "acknowledged";
  const before = findings.length - changed.length;
  const lines = [
    ...changed.map((each) => `${each.finding} ${verb}: ${describeViolation(each)}`),
    ...(before === 0 ? [] : [`${plural(before, "finding was", "findings were")} ${verb} before`]),
  ];
  return answer({ inOrder: true, document: { job: jobName, withdraw, changed }, text: lines.join("\n") });
}
