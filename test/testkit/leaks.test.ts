import { openDatabase } from "@nightwriter/database";
import { testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { beforeAll, describe, expect, test } from "vitest";
import { startVitest } from "vitest/node";

const PLANTED = "test/testkit/planted";

/** Runs the planted files as a test run of their own; what is wrong with each file, its tests apart. */
async function runPlanted(): Promise<ReadonlyMap<string, readonly string[]>> {
  const run = await startVitest("test", [], { config: `${PLANTED}/vitest.config.ts`, watch: false, reporters: [{}] });
  await run.close();
  return new Map(
    run.state.getTestModules().map((module) => {
      expect(module.children.allTests().map((each) => each.result().state)).not.toContain("failed");
      return [module.relativeModuleId, module.errors().map(({ message }) => message)];
    }),
  );
}

describe("the leak check", () => {
  let errors: ReadonlyMap<string, readonly string[]>;
  beforeAll(async () => {
    errors = await runPlanted();
  });

  test.each([
    ["timer", /Timeout made .*timer\.planted\.ts/],
    ["process", /PROCESSWRAP made .*process\.planted\.ts/],
    ["socket", /TCPWRAP made .*socket\.planted\.ts/],
    ["app", /process test\/testkit\/programs\/app\.ts was not disposed of/],
  ])("fails a file that leaves this behind: %s", (file, leak) => {
    expect(errors.get(`${file}.planted.ts`)).toEqual([expect.stringMatching(leak)]);
  });

  test("passes a file that leaves nothing behind", () => {
    expect(errors.get("nothing.planted.ts")).toEqual([]);
  });

  test("names who is still connected to a database at the end of its test", async () => {
    const mine = await testDatabase();
    const leaked = openDatabase({ url: mine.url, applicationName: "forgotten pool", max: 1 });
    await sql`select 1`.execute(leaked.db);
    await expect(mine[Symbol.asyncDispose]()).rejects.toThrow(/still in use .* by forgotten pool/);
    await leaked.close();
  });
});
