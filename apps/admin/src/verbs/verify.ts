import { assertCurrent } from "@nightwriter/job";
import { verify } from "@nightwriter/ledger";
import { databaseNow } from "@nightwriter/schedule";
import { type Answer, answer } from "../answer.ts";
import { assertInOrder } from "../arguments/business-date.ts";
import { openInstallation } from "../installation.ts";
import { plural } from "../output/format.ts";
import { startProgress } from "../output/progress.ts";
import { currenciesOf } from "../restaurants.ts";
import type { Terminal } from "../terminal.ts";
import { PairsFile } from "../verification/pairs-file.ts";
import { reportText } from "../verification/report-text.ts";

export interface VerifyLedgerOptions {
  readonly from?: Temporal.PlainDate | undefined;
  readonly to?: Temporal.PlainDate | undefined;
  readonly job: string;
  /** Where every differing pair is written to. */
  readonly pairs?: string | undefined;
}

/** Proves the ledger. What is outstanding is told and does not stand against it. */
export async function verifyLedger(terminal: Terminal, { from, to, job, pairs }: VerifyLedgerOptions): Promise<Answer> {
  if (from !== undefined && to !== undefined) assertInOrder(from, to);
  await using installation = await openInstallation(terminal, { verb: "verify", jobName: job, patient: true });
  if (pairs !== undefined) assertCurrent(installation.job);
  await using file = pairs === undefined ? undefined : await PairsFile.create(pairs);
  const progress = startProgress(terminal, { label: "steps done" });
  try {
    const report = await verify(installation.database, installation.job, {
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      now: await databaseNow(installation.database),
      ...(file !== undefined && { onPairs: async (some) => file.add(some) }),
      onProgress: ({ done, of }) => progress.update(done, of),
    });
    progress.stop();
    file?.keep();
    const keys = [
      ...report.outstanding,
      ...report.rules.flatMap(({ violations, acknowledged }) => [...violations, ...acknowledged]),
    ].map(({ key }) => key);
    const named = new Set(keys.filter((key) => key !== undefined));
    const currencies = await currenciesOf(installation.database, [...named]);
    return answer({
      inOrder: report.clean && report.unproved.length === 0,
      document: file === undefined ? report : { ...report, pairs: { file: file.path, count: file.count } },
      text: [reportText(report, currencies), ...(file === undefined ? [] : [pairsText(file)])].join("\n"),
    });
  } catch (error) {
    progress.stop();
    throw error;
  }
}

function pairsText({ count, path }: PairsFile): string {
  return `${plural(count, "pair differs", "pairs differ")} from the source: written to ${path}`;
}
