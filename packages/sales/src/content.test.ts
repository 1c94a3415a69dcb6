import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fingerprint } from "./content.ts";

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function print(pieces: readonly string[], byteCounts: readonly number[] = []) {
  return fingerprint(Readable.from(pieces.map((piece) => Buffer.from(piece))), byteCounts);
}

describe("fingerprint", () => {
  it("hashes and counts the whole, an unfinished last line included", async () => {
    expect(await print(["a\nb", "\nc"])).toMatchObject({ contentHash: sha256("a\nb\nc"), byteCount: 5, lineCount: 3 });
    expect(await print(["a\nb\n"])).toMatchObject({ byteCount: 4, lineCount: 2 });
  });

  it.each([
    ["after its line feed", "a\nb\n", "c", true],
    ["before its line feed", "a\nb", "\nc", true],
    ["before its carriage return", "a\nb", "\r\nc", true],
    ["inside its line feed's pair", "a\nb\r", "\nc", true],
    ["in the middle of a line", "a\nb", "b\nc", false],
  ])("says whether a beginning that ends %s ends a line", async (_, known, added, endsLine) => {
    const expected = { contentHash: sha256(known), endsLine };
    for (const pieces of [[known + added], [known, added]]) {
      expect((await print(pieces, [known.length])).beginnings.get(known.length)).toEqual(expected);
    }
  });

  it("hashes any beginnings of any pieces", async () => {
    const pieces = fc.array(fc.stringMatching(/^[a\n\r]{1,5}$/u), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(pieces, fc.array(fc.integer({ min: 1, max: 30 })), async (all, wanted) => {
        const text = all.join("");
        const byteCounts = [...new Set(wanted)].toSorted((one, other) => one - other);
        const { beginnings } = await print(all, byteCounts);
        const within = byteCounts.filter((count) => count <= text.length);
        expect([...beginnings.keys()]).toEqual(within);
        expect([...beginnings.values()].map((each) => each.contentHash)).toEqual(
          within.map((count) => sha256(text.slice(0, count))),
        );
      }),
    );
  });
});
