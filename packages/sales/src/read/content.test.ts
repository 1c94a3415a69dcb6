import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fingerprint } from "./content.ts";

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

async function print(pieces: readonly string[], byteCounts: readonly number[] = [], titleLines = 0) {
  return fingerprint(Readable.from(pieces.map((piece) => Buffer.from(piece))), { byteCounts, titleLines });
}

describe("fingerprint", () => {
  it("hashes and counts the whole", async () => {
    expect(await print(["a\nb", "\nc"])).toMatchObject({ contentHash: sha256("a\nb\nc"), byteCount: 5, lineCount: 3 });
  });

  it.each([
    { where: "before a line feed", known: "a\nb", added: "\nc", endsLine: true },
    { where: "in the middle of a line", known: "a\nb", added: "b\nc", endsLine: false },
    { where: "before a carriage return alone", known: "a\nb", added: "\rb\nc", endsLine: false },
    { where: "behind a line feed, in a blank line", known: "a\nb\n", added: "c", endsLine: false },
  ])("says whether a beginning that ends $where ends a line", async ({ known, added, endsLine }) => {
    const expected = { contentHash: sha256(known), endsLine };
    for (const pieces of [[known + added], [known, added]]) {
      expect((await print(pieces, [known.length])).beginnings.get(known.length)).toEqual(expected);
    }
  });

  it("hashes the header and 1, 2, 4, 8… lines, whether a line follows or not", async () => {
    const lines = Array.from({ length: 6 }, (_, index) => `line ${index}`);
    const first = (count: number): string => lines.slice(0, count).join("\n");
    const hashes = [2, 3, 5].map((count) => sha256(first(count)));
    expect((await print([first(6)])).lineHashes).toEqual(hashes);
    expect((await print([first(5)])).lineHashes).toEqual(hashes);
    expect((await print([first(4), "\n"])).lineHashes).toEqual([...hashes.slice(0, 2), sha256(`${first(4)}\n`)]);
    expect((await print([first(4)])).lineHashes).toEqual(hashes.slice(0, 2));
    expect((await print([first(1)])).lineHashes).toEqual([]);
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
