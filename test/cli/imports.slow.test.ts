/** An import that is taken back after its night has run. */
import { expect, it } from "vitest";
import { documentOf, importBoth, installation } from "./fixture.ts";

it("imports undo: the next run adds the signed differences, and verify is in order", { timeout: 120_000 }, async () => {
  await using made = await installation();
  const { run } = made;
  await importBoth(made);
  await made.startWorker();
  await run("run", "--from", "2026-03-14", "--to", "2026-03-15", "--wait");
  const total = async () => (await run("total", "Soho")).stdout.split(" (")[0];
  expect(await total()).toBe("Soho: 17.25 GBP");

  const listed = await run("imports", "list");
  expect(listed.stdout).toMatch(/soho\.csv +Soho +3 +0 +0 +17\.25 GBP +2026-03-14 to 2026-03-15/);
  const { imports } = documentOf(await run("imports", "list", "--restaurant", "Soho", "--json")) as {
    imports: { id: string; file: string }[];
  };
  const id = imports.find(({ file }) => file === "soho.csv")?.id ?? "";
  expect((await run("imports", "show", id)).stdout).toMatch(/read with +--date-column "date" --date-format/);

  const looked = await run("imports", "undo", id, "--dry-run");
  expect(looked.stdout).toMatch(/would be undone by 3 rows, -17\.25 GBP, 2 business dates .*nothing was changed/);
  expect(await run("imports", "undo", id)).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/say why with --reason/),
  });
  const undone = await run("imports", "undo", id, "--reason", "wrong file");
  expect(undone).toMatchObject({ code: 0, stdout: expect.stringMatching(/undone by 3 rows, -17\.25 GBP/) });
  expect((await run("imports", "undo", id, "--reason", "again")).stdout).toMatch(
    /is undone already; nothing was changed/,
  );

  for (const date of ["2026-03-14", "2026-03-15"])
    await run("rerun", "--date", date, "--request-id", `undo ${date}`, "--wait");
  expect(await total()).toBe("Soho: 0.00 GBP");
  const verified = await run("verify", "--json");
  expect(verified.code).toBe(0);
  expect(documentOf(verified)).toMatchObject({ clean: true, outstandingSums: [] });
});
