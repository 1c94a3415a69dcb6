/** `import --options`: the two examples that are documented, and what a file of options may say. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { documentOf, installation } from "./fixture.ts";

const examples = join(import.meta.dirname, "../../packages/sales/examples");

it("import --options: both examples come to their sums, and the options are kept", async () => {
  await using made = await installation();
  const { run, database } = made;
  const example = (name: string): string[] => [
    `${examples}/${name}.csv`,
    "--options",
    `${examples}/${name}.options.json`,
  ];
  const platform = await run("import", ...example("delivery-platform"), "--json");
  expect(documentOf(platform)).toMatchObject({ lines: 4, leftOut: 2, sums: { GBP: "9450" }, warnings: [] });
  expect((await run("import", ...example("till"))).stderr).toMatch(/"filiale 3": not known.*--create/);
  const till = documentOf(await run("import", ...example("till"), "--create", "--json"));
  expect(till).toMatchObject({ lines: 4, sums: { EUR: "123100" }, warnings: [] });
  const { rows } = await sql`
    select concat_ws(' ', restaurant_id, business_date, sum(amount_minor)) as sold from sales.sale
    group by restaurant_id, business_date order by restaurant_id, business_date`.execute(database.db);
  expect(rows.map((row) => (row as { sold: string }).sold)).toEqual([
    "Harbour 2026-03-14 2450",
    "Harbour 2026-03-15 4225",
    "Mill Lane 2026-03-14 2775",
    "filiale 3 2026-03-14 121600",
    "filiale 3 2026-03-15 1500",
  ]);
  const { id } = till as { id: string };
  const shown = documentOf(await run("imports", "show", id, "--json")) as { import: { options: object } };
  const written: unknown = JSON.parse(await readFile(`${examples}/till.options.json`, "utf8"));
  expect(shown.import.options).toEqual({ ...(written as object), create: true });
});

it("import --options refuses what is no option, is overridden by the command line, and --save-options writes such a file", async () => {
  await using made = await installation();
  const { run, file } = made;
  const csv = await file("x.csv", "date,net,gross\n14/03/2026 12:00,1.00,1.20\n");
  const saved = `${csv}.options`;
  const options = await file(
    "o.json",
    '{"amount-column":"net","restaurant":"soho","currency":"GBP","date-format":"dd/MM/yyyy HH:mm"}',
  );
  const [unknown, wrong, bad] = await Promise.all([
    run("import", csv, "--options", await file("1.json", '{"amuont-column":"net"}')),
    run("import", csv, "--options", await file("2.json", '{"currency":{"code":"GBP"}}')),
    run("import", csv, "--options", await file("4.json", '{"skip-lines":"two"}')),
  ]);
  expect(unknown).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/1\.json: "amuont-column" is no option \(did you mean amount-column\?\)/),
  });
  expect(wrong).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/2\.json: currency has no value that it can have/),
  });
  expect(bad).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/4\.json: skip-lines "two": Write a whole number/),
  });
  const given = ["--options", options, "--amount-column", "gross", "--zone", "Europe/London"];
  const looked = await run("import", csv, ...given, "--dry-run", "--future-ok", "--save-options", saved, "--json");
  expect(documentOf(looked)).toMatchObject({ sums: { GBP: "120" } });
  expect(JSON.parse(await readFile(saved, "utf8"))).toEqual({
    restaurant: "soho",
    "date-format": "dd/MM/yyyy HH:mm",
    zone: "Europe/London",
    "amount-column": "gross",
    currency: "GBP",
  });
  expect(documentOf(await run("import", csv, "--options", saved, "--json"))).toMatchObject({ sums: { GBP: "120" } });
  const again = await run("import", csv, ...given, "--save-options", saved);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringMatching(/--save-options .*exists already/) });
});
