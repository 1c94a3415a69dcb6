import { Fault } from "@nightwriter/core";
import { enqueueRetried, type RetriedItem, type Retry, retryItems } from "@nightwriter/withdrawal";
import { actor } from "../actor.ts";
import { type Answer, answer } from "../answer.ts";
import { type Installation, openInstallation } from "../installation.ts";
import { plural } from "../output/format.ts";
import { assertRestaurants } from "../restaurants.ts";
import type { Terminal } from "../terminal.ts";
import { UsageFault } from "../usage-fault.ts";
import { remedyText } from "../withdrawn/remedy-text.ts";
import { type SelectionOptions, selectionOf } from "../withdrawn/selection.ts";
import { withdrawnTable } from "../withdrawn/withdrawn-table.ts";

const SHOWN = 20;

export interface RetryItemsOptions extends SelectionOptions {
  readonly all: boolean;
  readonly reason?: string | undefined;
  readonly dryRun: boolean;
  readonly job: string;
}

/** Makes what was parked due again and puts it into the queue; names what stays as it was, and why. */
export async function retryWithdrawn(terminal: Terminal, options: RetryItemsOptions): Promise<Answer> {
  assertMeant(options);
  const { job: jobName, dryRun, all, key, date, sqlstate } = options;
  await using installation = await openInstallation(terminal, { verb: "items retry", jobName, patient: true });
  await assertRestaurants(installation, key ?? []);
  const retry = await retryItems(installation.database, installation.job, {
    selection: selectionOf(options),
    dryRun,
    actor: actor(),
    reason: options.reason,
    arguments: { job: jobName, all, key, date, sqlstate },
  });
  const fault = dryRun ? undefined : await enqueue(installation, retry.retried);
  const { retried, leftOut } = retry;
  return answer({
    inOrder: leftOut.length === 0,
    document: {
      job: jobName,
      dryRun,
      enqueued: !dryRun && fault === undefined,
      retried: retried.map(({ due, ...item }) => ({ ...item, generation: due?.generation })),
      leftOut: leftOut.map(({ obstacle, ...item }) => ({ ...item, ...obstacleDocument(item.key, obstacle) })),
    },
    text: [...retriedLines(options, retry, fault), ...leftOutLines(leftOut)].join("\n"),
  });
}

function assertMeant({ all, key, date, sqlstate, reason, dryRun }: RetryItemsOptions): void {
  const isNarrowed = key !== undefined || date !== undefined || sqlstate !== undefined;
  if (all && isNarrowed) {
    throw new UsageFault("option --all: means every parked item; leave out --all, or --key, --date and --sqlstate");
  }
  if (!all && !isNarrowed) {
    throw new UsageFault("which items are to be retried: say --key, --date or --sqlstate, or --all for every one");
  }
  if (!dryRun && reason === undefined) {
    throw new UsageFault("option --reason: is missing; say why, for the audit log, or look first with --dry-run");
  }
}

/** Undefined: all of them are in the queue. What the queue does not take now, the scheduler puts there later. */
async function enqueue(installation: Installation, retried: readonly RetriedItem[]): Promise<Fault | undefined> {
  if (retried.length === 0) return undefined;
  try {
    await enqueueRetried(await installation.queues(), retried);
    return undefined;
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

function retriedLines({ dryRun }: RetryItemsOptions, { retried }: Retry, fault: Fault | undefined): string[] {
  if (retried.length === 0) return ["nothing to retry"];
  const count = plural(retried.length, "item");
  const more = retried.length - SHOWN;
  const dates = [...new Set(retried.map(({ businessDate }) => businessDate))].toSorted();
  const table = [withdrawnTable(retried.slice(0, SHOWN)), ...(more > 0 ? [`and ${more} more`] : []), ""];
  if (dryRun) return [...table, `would retry ${count}; nothing was changed`];
  return [
    ...table,
    fault === undefined
      ? `${count} due again and enqueued`
      : `${count} due again, not enqueued: ${fault.message}; the scheduler will, within RECONCILE_INTERVAL_MS of the queue's return`,
    `look at it with: nightwriter status --date ${dates.at(-1)} --watch`,
  ];
}

function leftOutLines(leftOut: Retry["leftOut"]): string[] {
  if (leftOut.length === 0) return [];
  const more = leftOut.length - SHOWN;
  return [
    "",
    `${plural(leftOut.length, "item stays", "items stay")} as before:`,
    ...leftOut
      .slice(0, SHOWN)
      .map(
        ({ key, businessDate, runId, obstacle }) =>
          `  ${key} ${businessDate} (run ${runId}): ${remedyText({ key, ...obstacle })}`,
      ),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

function obstacleDocument(key: string, obstacle: Retry["leftOut"][number]["obstacle"]): object {
  return {
    why: obstacle.why,
    remedy: remedyText({ key, ...obstacle }),
    ...("runId" in obstacle && { dueInRun: obstacle.runId }),
  };
}
