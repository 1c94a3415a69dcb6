/**
 * Starting in bad weather: a process that comes up beside others, or beside a server that is still coming up itself, meets
 * rollbacks and locks that are gone a moment later. It tries again for a while before it gives up.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type Logger, silentLogger } from "@nightwriter/core";
import { SqlFault } from "./sql-fault.ts";

export interface StartPatience {
  readonly logger?: Logger;
  /** How often it is tried at most. Default: 8, some ten seconds in all. */
  readonly tries?: number;
}

const firstWaitMs = 100;
const longestWaitMs = 3_000;

/** A server that starts, stops or is full ends the session with these: nothing was asked of it, so nothing is unknown. */
const serverUnready = new Set(["57P01", "57P02", "57P03", "53300"]);
/** "No epoch in this cluster yet": nobody's waiting mends that. */
const notPrepared = "55000";

/**
 * Runs `step` of a start, which must be idempotent, again while it meets weather. Throws what it throws when that is none, or does not
 * end. A server that cannot be reached at all is no weather here: whoever started the process should hear of it.
 */
export async function startThroughWeather<Result>(
  step: () => Promise<Result>,
  { logger = silentLogger, tries = 8 }: StartPatience = {},
): Promise<Result> {
  for (let tried = 1; ; tried++) {
    try {
      return await step();
    } catch (error) {
      if (tried >= tries || !isWeather(error)) throw error;
      const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** (tried - 1));
      logger.warn({ err: error, tried, waitMs }, "cannot start yet: trying again");
      await sleep(waitMs);
    }
  }
}

function isWeather(error: unknown): boolean {
  if (!(error instanceof SqlFault)) return false;
  const passes = error.code === "weather" && error.sqlstate !== notPrepared;
  return passes || serverUnready.has(error.sqlstate ?? "");
}
