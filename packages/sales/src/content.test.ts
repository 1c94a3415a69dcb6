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
    { where: "after its line feed", known: "a\nb\n", added: "c", endsLine: true },
    { where: "before its line feed", known: "a\nb", added: "\nc", endsLine: true },
    { where: "before its carriage return", known: "a\nb", added: "\r\nc", endsLine: true },
    { where: "inside its pair of them", known: "a\nb\r", added: "\nc", endsLine: true },
    { where: "in the middle of a line", known: "a\nb", added: "b\nc", endsLine: false },
  ])("says whether a beginning that ends $where ends a line", async ({ known, added, endsLine }) => {
    const expected = { contentHash: sha256(known), endsLine };
    for (const pieces of [[known + added], [known, added]]) {
      expect((await print(pieces, [known.length])).beginnings.get(known.length)).toEqual(expected);
    }
  });

  it("hashes the header and 1, 2, 4, 8… lines, of finished ones only", async () => {
    const lines = Array.from({ length: 6 }, (_, index) => `line ${index}\n`);
    const after = (count: number): string => sha256(lines.slice(0, count).join(""));
    expect((await print(lines)).lineHashes).toEqual([after(2), after(3), after(5)]);
    expect((await print([lines.slice(0, 5).join("").trimEnd()])).lineHashes).toEqual([after(2), after(3)]);
    expect((await print(["header\n"])).lineHashes).toEqual([]);
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
