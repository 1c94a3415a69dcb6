import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { explainRules } from "./explain-rules.ts";

it("what no rule sees stands in the README, word by word", async () => {
  const readme = await readFile(join(import.meta.dirname, "../README.md"), "utf8");
  const section = readme.slice(readme.indexOf("**Does not** see"));
  const listed = section.split("\n").filter((line) => line.startsWith("- "));
  expect(listed).toEqual(explainRules().unseen.map((each) => `- ${each}`));
});

it("each rule has its row in the README", async () => {
  const readme = await readFile(join(import.meta.dirname, "../README.md"), "utf8");
  for (const { rule } of explainRules().rules) expect(readme).toContain(`| \`${rule}\` `);
});
