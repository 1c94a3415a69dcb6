import { readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allowHugePages } from "./huge-pages.ts";

test("the kernel's limit is raised by what a server takes, and as it was before afterwards", async () => {
  const limit = join(tmpdir(), `nightwriter-huge-pages-${process.pid}`);
  await writeFile(limit, "7\n");
  try {
    {
      await using _allowed = await allowHugePages(2_048, limit);
      expect(await readFile(limit, "utf8")).toBe("1231");
    }
    expect(await readFile(limit, "utf8")).toBe("7\n");
  } finally {
    await rm(limit);
  }
});

test("where there is no such limit nothing is changed, and nothing fails", async () => {
  const nowhere = join(tmpdir(), "nightwriter-nowhere", "limit");
  await using _allowed = await allowHugePages(2_048, nowhere);
  await expect(readFile(nowhere)).rejects.toMatchObject({ code: "ENOENT" });
});
