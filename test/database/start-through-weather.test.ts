/** A start meets weather: rollbacks, locks, a server that is coming up. */

import { currentEpoch, openDatabase, sqlFault, startThroughWeather } from "@nightwriter/database";
import { type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";

/** A step that the server answers with this SQLSTATE as often as is said, and then with `started`. */
function failing({ db }: TestDatabase, sqlstate: string, times: number) {
  let calls = 0;
  return {
    calls: () => calls,
    step: async (): Promise<string> => {
      calls += 1;
      if (calls > times) return "started";
      await sql.raw(`do $$ begin raise exception 'planted' using errcode = '${sqlstate}'; end $$`).execute(db);
      return "not reached";
    },
  };
}

describe("startThroughWeather", () => {
  test.each(["40001", "40P01", "55P03", "57P03"])("tries again after %s", async (sqlstate) => {
    await using test = await testDatabase();
    const { step, calls } = failing(test, sqlstate, 2);
    expect(await startThroughWeather(faults(step))).toBe("started");
    expect(calls()).toBe(3);
  });

  test("gives up in the end, and throws what it met last", async () => {
    await using test = await testDatabase();
    const { step, calls } = failing(test, "40001", 99);
    await expect(startThroughWeather(faults(step), { tries: 3 })).rejects.toMatchObject({ sqlstate: "40001" });
    expect(calls()).toBe(3);
  });

  test("throws at once what no waiting mends", async () => {
    await using test = await testDatabase();
    const { step, calls } = failing(test, "42501", 99);
    await expect(startThroughWeather(faults(step))).rejects.toMatchObject({ sqlstate: "42501" });
    expect(calls()).toBe(1);
    await sql`update nightwriter.epoch set system_identifier = 1`.execute(test.db);
    let asked = 0;
    const epoch = async (): Promise<number> => {
      asked += 1;
      return currentEpoch(test.database);
    };
    await expect(startThroughWeather(epoch)).rejects.toMatchObject({ sqlstate: "55000" });
    expect(asked).toBe(1);
  });

  test("tells at once that nobody is there", async () => {
    await using database = openDatabase({ url: "postgres://nobody@127.0.0.1:1/none", applicationName: "test", max: 1 });
    await expect(startThroughWeather(async () => currentEpoch(database))).rejects.toMatchObject({ code: "lost" });
  });
});

/** Kysely throws the driver's errors; whoever starts sees faults. */
function faults<Result>(step: () => Promise<Result>): () => Promise<Result> {
  return async () => step().catch((error: unknown) => Promise.reject(sqlFault(error)));
}
