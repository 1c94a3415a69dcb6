import { mutatedBuild, spawnApp } from "@nightwriter/testkit";
import { describe, expect, test } from "vitest";

const file = "packages/partition/src/partition-of.ts";
const program = "test/testkit/programs/partition-of.ts";

describe("mutatedBuild", () => {
  test("changes what the product does in the processes that get it, and in no other", async () => {
    const build = mutatedBuild({ file, replace: ".readUInt32BE(0) %", by: ".readUInt32BE(0) * 0 + 41 %" });
    await using mutated = await spawnApp(program, build.environment);
    await build.loadedBy(mutated);
    expect(await mutated.waitForLog(({ msg }) => msg === "partition")).toMatchObject({ partition: 9 });
    await using shipped = await spawnApp(program, {});
    expect(await shipped.waitForLog(({ msg }) => msg === "partition")).toMatchObject({ partition: 5 });
  });

  test("makes several changes, and takes TypeScript", async () => {
    const build = mutatedBuild(
      { file, replace: "): number {", by: "): number {\n  const one: number = 1;" },
      { file, replace: "% partitionCount", by: "* 0 + one" },
    );
    await using app = await spawnApp(program, build.environment);
    await build.loadedBy(app);
    expect(await app.waitForLog(({ msg }) => msg === "partition")).toMatchObject({ partition: 1 });
  });

  test.each([
    ["is not there", "no such text", "0 times"],
    ["is there twice", "partitionCount", "2 times"],
  ])("refuses to start a process when the text %s", async (_, replace, count) => {
    const build = mutatedBuild({ file, replace, by: "" });
    await using app = await spawnApp(program, build.environment);
    expect(await app.exited).toMatchObject({ code: 1 });
    expect(JSON.stringify(app.log)).toContain(`${count}, not once`);
    await expect(build.loadedBy(app)).rejects.toThrow(/before it ended/);
  });

  test("knows a process that has not loaded what was changed", async () => {
    const build = mutatedBuild({
      file: "packages/schedule/src/index.ts",
      replace: "missingNights }",
      by: "missingNights }",
    });
    await using app = await spawnApp(program, build.environment);
    await app.exited;
    await expect(build.loadedBy(app)).rejects.toThrow(/before it ended/);
  });
});
