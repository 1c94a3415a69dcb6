/** What a run was asked for and does not have, told to whoever asked for it. */
import type { LeftOut, LeftOutPair, LeftOutReason } from "@nightwriter/run";
import { withdrawnItems } from "@nightwriter/withdrawal";
import type { Answer } from "../answer.ts";
import { exitCode } from "../exit-code.ts";
import type { Installation } from "../installation.ts";
import { plural } from "../output/format.ts";
import { errorText } from "../withdrawn/error-text.ts";
import { remedyText } from "../withdrawn/remedy-text.ts";
import { sum } from "./wait-for-runs.ts";

/** Adds to the verb's answer what was left out, with why and what to do; whatever else it says, something is not in order then. */
export async function withLeftOut(
  answered: Answer,
  installation: Installation,
  { counts, pairs }: LeftOut,
): Promise<Answer> {
  const reasons = Object.keys(counts) as LeftOutReason[];
  const errors = await errorsOf(installation, pairs);
  const named = pairs.map((pair) => ({
    ...pair,
    error: errors.get(identityOf(pair)),
    remedy: remedyText({ ...pair, why: pair.reason }),
  }));
  const document = { ...(answered.document as object), leftOut: { counts, pairs: named } };
  if (reasons.length === 0) return { ...answered, document };
  const lines = named.map(({ key, businessDate, reason, runId, error, remedy }) => {
    const why = [reason === "run_cancelled" ? "run cancelled" : reason, runId === undefined ? "" : `in run ${runId}`];
    return `  ${key} ${businessDate}: ${why.join(" ").trim()}${error === undefined ? "" : ` (${error})`}; ${remedy}`;
  });
  const count = sum(reasons, (reason) => counts[reason] ?? 0);
  const more = count - pairs.length;
  const text = [
    answered.text,
    `left out: ${plural(count, "item")} that this run was asked for and does not have`,
    ...lines,
    ...(more === 0 ? [] : [`  and ${more} more: ${reasons.map((reason) => `${counts[reason]} ${reason}`).join(", ")}`]),
  ];
  const { inOrder, notInOrder } = exitCode;
  const code = answered.exitCode === inOrder ? notInOrder : answered.exitCode;
  return { exitCode: code, document, text: text.join("\n") };
}

/** What parked the listed items, by item. */
async function errorsOf({ database, job }: Installation, pairs: readonly LeftOutPair[]): Promise<Map<string, string>> {
  const parked = pairs.filter(({ reason }) => reason === "parked");
  const errors = new Map<string, string>();
  if (parked.length === 0) return errors;
  const keys = [...new Set(parked.map(({ key }) => key))];
  for await (const page of withdrawnItems(database, job, { keys })) {
    for (const item of page) errors.set(identityOf(item), errorText(item) || "nobody recorded why");
  }
  return errors;
}

function identityOf({ runId, key, businessDate }: Pick<LeftOutPair, "runId" | "key" | "businessDate">): string {
  return `${runId} ${businessDate} ${key}`;
}
