import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { openInput } from "./input.ts";

async function folders(): Promise<string[]> {
  return (await readdir(tmpdir())).filter((each) => each.startsWith(`nightwriter-input-${process.pid}-`));
}

it("an interrupt ends the wait for standard input, and nothing of it stays", async () => {
  const source = new PassThrough();
  source.write("date,amount\n");
  const controller = new AbortController();
  const opened = openInput(["-"], { signal: controller.signal, source });
  const reason = new Error("interrupted");
  controller.abort(reason);
  await expect(opened).rejects.toBe(reason);
  expect(await folders()).toEqual([]);
});
