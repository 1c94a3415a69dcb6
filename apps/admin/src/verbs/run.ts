import { randomUUID } from "node:crypto";
import { systemClock } from "@nightwriter/core";
import { ensureNightlyRun, ensureRequestedRun, type RequestedRun } from "@nightwriter/run";
import { databaseNow } from "@nightwriter/schedule";
import type { Answer } from "../answer.ts";
import { assertNotFarAhead, assertNotFuture, assertOver, datesBetween } from "../arguments/business-date.ts";
import { type Installation, openInstallation } from "../installation.ts";
import { carryOut } from "../nights/carry-out.ts";
import { assertRestaurants } from "../restaurants.ts";
import type { Terminal } from "../terminal.ts";
import { UsageFault } from "../usage-fault.ts";

export interface RunOptions {
  readonly date?: Temporal.PlainDate | undefined;
  readonly from?: Temporal.PlainDate | undefined;
  readonly to?: Temporal.PlainDate | undefined;
  readonly job: string;
  readonly wait: boolean;
  readonly restaurant?: readonly string[] | undefined;
  readonly requestId?: string | undefined;
}

/** Runs one night, several, or some restaurants of one. */
export async function runNights(terminal: Terminal, options: RunOptions): Promise<Answer> {
  const dates = datesOf(options);
  for (const date of dates) assertNotFarAhead(date, systemClock.now());
  await using installation = await openInstallation(terminal, {
    verb: "run",
    purpose: "plan",
    jobName: options.job,
    patient: true,
  });
  const now = await databaseNow(installation.database);
  for (const date of dates) {
    assertNotFuture(date, now);
    if (options.restaurant === undefined) assertOver(installation.job, date, now);
  }
  const plans =
    options.restaurant === undefined
      ? dates.map((date) => async () => ensureNightlyRun(installation.database, installation.job, date))
      : dates.map((date) => manualRun(installation, { ...options, date, keys: options.restaurant ?? [] }));
  return await carryOut(terminal, installation, { plans, wait: options.wait });
}

function datesOf({ date, from, to, restaurant, requestId }: RunOptions): Temporal.PlainDate[] {
  if (restaurant === undefined && requestId !== undefined) {
    throw new UsageFault("option --request-id: a night has none, it is known by its date; use it with --restaurant");
  }
  if (restaurant !== undefined && date === undefined) {
    throw new UsageFault("option --restaurant: needs --date, one run is of one date");
  }
  if (date !== undefined && from === undefined && to === undefined) return [date];
  if (date === undefined && from !== undefined && to !== undefined) return datesBetween(from, to);
  throw new UsageFault("which night is to be run: say --date, or both --from and --to; see nightwriter run --help");
}

type Manual = {
  readonly date: Temporal.PlainDate;
  readonly keys: readonly string[];
  readonly requestId?: string | undefined;
};

function manualRun(installation: Installation, { date, keys, requestId }: Manual): () => Promise<RequestedRun> {
  const { database, job } = installation;
  const id = requestId ?? randomUUID();
  return async () => {
    await assertRestaurants(installation, keys);
    return ensureRequestedRun(database, job, { kind: "manual", businessDate: date, requestId: id, keys });
  };
}
