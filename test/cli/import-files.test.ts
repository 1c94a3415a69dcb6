/** Several files in one call, and standard input. */
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { documentOf, installation, nightwriter } from "./fixture.ts";

it("import records several files, each by itself, and ends as the worst", async () => {
  await using made = await installation();
  const { run, file, settings } = made;
  const options = ["--restaurant", "Soho", "--zone", "Europe/London", "--currency", "GBP"];
  const one = await file("one.csv", "date,amount\n2026-03-14 12:00,1\n");
  const bad = await file("bad.csv", "date,amount\n2026-03-15 12:00,x\n");
  const two = await file("two.csv", "date,amount\n2026-03-16 12:00,2\n");
  const all = await run("import", one, bad, two, ...options);
  expect(all.code).toBe(1);
  expect(all.stdout).toMatch(/one\.csv: 1 sale recorded[^]*bad\.csv: 1 bad line, line 2[^]*two\.csv: 1 sale recorded/);

  const again = await run("import", one, two, ...options, "--json");
  expect(again.code).toBe(0);
  expect(documentOf(again)).toMatchObject({ files: [{ outcome: "duplicate" }, { outcome: "duplicate" }] });
  expect(await run("import", one, bad, ...options, "--skip-bad", "x")).toMatchObject({ code: 2 });

  const content = (await readFile(two, "utf8")).replace("16", "17");
  const piped = await nightwriter(["import", "-", ...options], settings, content);
  expect(piped).toMatchObject({ code: 0, stdout: expect.stringMatching(/^stdin: 1 sale recorded, 2\.00 GBP/) });
});
