/** Writing down what did not apply. Parking must succeed to count; the rest is for the record, and weather may lose it. */
import { invariant } from "@nightwriter/core";
import { type SqlFault, sqlFault } from "@nightwriter/database";
import type { ApplyContext } from "./apply-context.ts";
import { type FailedAttempt, recordAttempts } from "./attempt-store.ts";
import type { Item, ItemOutcome } from "./item.ts";
import { type ParkAnswer, type ParkedItem, parkItems } from "./park-items.ts";
import { isRefusal } from "./refusal.ts";

/** Parks what is to be parked, records the other attempts, and answers what became of each item in the end. */
export async function recordOutcomes(
  context: ApplyContext,
  found: ReadonlyMap<Item, ItemOutcome>,
): Promise<ReadonlyMap<Item, ItemOutcome>> {
  const parked = [...found].flatMap(([item, outcome]): ParkedItem[] =>
    outcome.outcome === "parked" ? [{ item, outcome }] : [],
  );
  const outcomes = new Map([...found, ...(await park(context, parked))]);
  await recordOthers(context, outcomes);
  return outcomes;
}

/**
 * What the park left alone was settled by somebody else meanwhile, or is no longer mine to judge. An item whose rows cannot even
 * be parked must not keep the others from it: it stays due.
 */
async function park(context: ApplyContext, parked: readonly ParkedItem[]): Promise<(readonly [Item, ItemOutcome])[]> {
  if (parked.length === 0) return [];
  const { database, job, term, worker } = context;
  try {
    const answers = await parkItems(database, { job, term, parked, worker });
    return parked.map(({ item, outcome }, index) => [item, settled(answers[index], outcome)]);
  } catch (error) {
    const fault = sqlFault(error);
    if (fault.retryable) return parked.map(({ item }) => [item, { outcome: "unknown", fault }]);
    if (!isRefusal(fault)) throw fault;
    if (parked.length === 1) return parked.map(({ item, outcome }) => [item, unparked(outcome, fault)]);
    const half = Math.ceil(parked.length / 2);
    return [...(await park(context, parked.slice(0, half))), ...(await park(context, parked.slice(half)))];
  }
}

function unparked({ reason, ...failure }: ParkedItem["outcome"], fault: SqlFault): ItemOutcome {
  return { ...failure, outcome: "failing", reason: `${reason}; not parked: ${fault.message}` };
}

function settled(answer: ParkAnswer | undefined, parked: ParkedItem["outcome"]): ItemOutcome {
  invariant(answer !== undefined, "each item that was to be parked has its answer");
  switch (answer.outcome) {
    case "parked":
      return parked;
    case "failing":
      return { ...parked, outcome: "failing" };
    case "applied":
      return { ...answer, outcome: "duplicate" };
    case "fenced":
    case "withdrawn":
      return answer;
  }
}

async function recordOthers(context: ApplyContext, outcomes: ReadonlyMap<Item, ItemOutcome>): Promise<void> {
  const { database, term, worker, logger } = context;
  const others = [...outcomes].flatMap(([item, outcome]): FailedAttempt[] =>
    outcome.outcome === "applied" || outcome.outcome === "parked" ? [] : [{ item, outcome }],
  );
  await recordAttempts(database, others, { fencingToken: term.fencingToken, worker }).catch((error: unknown) => {
    const fields = { err: error, attempts: others.length };
    // In weather the outcomes themselves tell of it.
    if (sqlFault(error).retryable) logger.debug(fields, "attempts not recorded");
    else logger.warn(fields, "attempts not recorded");
  });
}
