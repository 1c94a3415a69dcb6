/** Storms with a write that is wrong on purpose, to see that it is found out. */

import { systemClock } from "@nightwriter/core";
import { type Database, openDatabase } from "@nightwriter/database";
import { type RuleName, type VerifyReport, verify } from "@nightwriter/ledger";
import { seededRandom } from "@nightwriter/testkit";
import { expect } from "vitest";
import { type Night, openNight, withoutVersion, writeText } from "./night.ts";
import { type StormReport, storm } from "./storm.ts";

export const keyCount = 4;
/** Runs of earlier nights, of which the statistics know. */
export const history = 40;
/** A write that is wrong is to be found out in so many storms of so many items. */
export const wrong = { roundCount: 20, itemCount: 100 };

export async function verified({ test: { url }, job }: Night): Promise<VerifyReport> {
  await using database = openDatabase({ url, applicationName: "verify", statementTimeoutMs: 0 });
  return await verify(database, job, { now: systemClock.now() });
}

/** A database on which the write is another one. */
function spoiled(database: Database, [right, wrong]: readonly [string, string]): Database {
  return {
    ...database,
    run: async (query) => database.run({ ...query, sql: query.sql === right ? wrong : query.sql }),
  };
}

/** Storms with a write that is made wrong, until `isFound` or the rounds are up. */
export async function wrongStorms(
  { replacements, keys }: { replacements: readonly (readonly [RegExp, string])[]; keys: number },
  isFound: (found: StormReport, report: VerifyReport) => boolean,
): Promise<void> {
  await using night = await openNight("18", keys, history);
  const random = seededRandom();
  const texts = [writeText(night), writeText(night, ...replacements)] as const;
  const spoil = (database: Database): Database => spoiled(database, texts);
  for (let round = 1; round <= wrong.roundCount; round++) {
    const found = await storm(night, { random, itemCount: wrong.itemCount, name: `round ${round}`, spoil });
    if (isFound(found, await verified(night))) return;
  }
  expect.unreachable(`the wrong write was not found out in ${wrong.roundCount} storms`);
}

/** The rules that say so of a write which does not compare versions. Fails where it is not found out. */
export async function violatedWithoutVersion(): Promise<ReadonlySet<RuleName>> {
  const violated = new Set<RuleName>();
  await wrongStorms({ replacements: [withoutVersion], keys: keyCount }, (_, report) => {
    for (const { rule, status } of report.rules) if (status === "violated") violated.add(rule);
    return violated.has("delta-from-snapshot");
  });
  return violated;
}
