/** `import --dry-run`, as an operator uses it. */
import { expect, it } from "vitest";
import { nothing, rowCounts } from "../sales/fixture.ts";
import { documentOf, installation } from "./fixture.ts";

it("import --dry-run shows what would be recorded and ends as the import would", async () => {
  await using made = await installation();
  const { run, file } = made;
  const options = ["--restaurant", "Soho", "--zone", "Europe/London", "--currency", "GBP"];
  const good = await file("good.csv", "date,amount\n2026-03-14 12:00,10.50\n2026-03-15 19:30,-0.50\n");
  const half = await file("half.csv", "date,amount\n2026-03-14 12:00,10.50\n2026-03-15 19:30,x\n");
  const none = await file("none.csv", "date,amount\n");
  const [looked, json, skipped, empty] = await Promise.all([
    run("import", good, ...options, "--dry-run"),
    run("import", good, ...options, "--dry-run", "--json"),
    run("import", half, ...options, "--dry-run", "--skip-bad", `${half}.bad`),
    run("import", none, ...options, "--dry-run"),
  ]);
  expect(looked.code).toBe(0);
  expect(looked.stdout).toMatch(/^read as utf-8, a comma between fields; columns "date", "amount"\n/);
  expect(looked.stdout).toMatch(/2 +Soho +2026-03-14 +2026-03-14 12:00 +10\.50 +GBP/);
  expect(looked.stdout).toMatch(/Soho +new +2 +10\.00 GBP +2026-03-14 to 2026-03-15/);
  expect(looked.stdout).toMatch(/good\.csv: 2 sales would be recorded, 10\.00 GBP\n[^]*dry run: nothing was recorded$/);
  expect(documentOf(json)).toMatchObject({ dryRun: true, outcome: "imported", lines: 2, look: { delimiter: "," } });
  expect(skipped).toMatchObject({ code: 3, stdout: expect.stringMatching(/1 bad line would be written to/) });
  expect(empty).toMatchObject({
    code: 3,
    stdout: expect.stringMatching(/none\.csv: has no sale; nothing was recorded/),
  });
  expect(await rowCounts(made.database)).toEqual(nothing);
});

it("import of corrections alone has sales", async () => {
  await using made = await installation();
  const { run, file } = made;
  const options = ["--restaurant", "Soho", "--zone", "Europe/London", "--currency", "GBP", "--id-column", "id"];
  await run("import", await file("1.csv", "id,date,amount\nR-1,2026-03-14 12:00,-12.95\n"), ...options);
  const corrected = await run(
    "import",
    await file("2.csv", "id,date,amount\nR-1,2026-03-14 12:00,-2.95\n"),
    ...options,
  );
  expect(corrected).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^2\.csv: 0 sales recorded, 10\.00 GBP .*\n1 sale was corrected/),
  });
});
