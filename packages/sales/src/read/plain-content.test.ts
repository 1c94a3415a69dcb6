import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainContent } from "./plain-content.ts";

async function plain(pieces: readonly Buffer[]): Promise<string> {
  const read: Buffer[] = [];
  for await (const piece of plainContent(Readable.from(pieces))) {
    expect(piece.length).toBeGreaterThan(0);
    read.push(piece);
  }
  return Buffer.concat(read).toString("latin1");
}

describe("plainContent", () => {
  it.each([
    { what: "carriage returns before line feeds", content: "a\r\nb\r\n\r\nc", says: "a\nb\n\nc" },
    { what: "one line end at the end", content: "a\nb\n", says: "a\nb" },
    { what: "a pair of them at the end", content: "a\nb\r\n", says: "a\nb" },
    { what: "half a pair at the end", content: "a\nb\r", says: "a\nb" },
    { what: "the first byte order mark only", content: "\xEF\xBB\xBF\xEF\xBB\xBFa", says: "\xEF\xBB\xBFa" },
    { what: "all there is", content: "\xEF\xBB\xBF\r\n", says: "" },
  ])("leaves out $what", async ({ content, says }) => {
    expect(await plain([Buffer.from(content, "latin1")])).toBe(says);
  });

  it.each([
    { what: "blank lines at the end but the last", content: "a\n\n\n", says: "a\n\n" },
    { what: "a carriage return in a line", content: "a\rb\n", says: "a\rb" },
    { what: "half a byte order mark", content: "\xEF\xBB", says: "\xEF\xBB" },
    { what: "a byte order mark elsewhere", content: "a\xEF\xBB\xBF", says: "a\xEF\xBB\xBF" },
    { what: "every other byte", content: "\0\x80\xFFé", says: "\0\x80\xFFé" },
  ])("keeps $what", async ({ content, says }) => {
    expect(await plain([Buffer.from(content, "latin1")])).toBe(says);
  });

  it("says the same however the bytes are cut", async () => {
    const bytes = fc.array(fc.constantFrom("\r", "\n", "a", "\xEF", "\xBB", "\xBF", "\xEF\xBB\xBF"), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(bytes, fc.array(fc.nat({ max: 20 })), async (parts, cuts) => {
        const whole = Buffer.from(parts.join(""), "latin1");
        const ends = [...cuts.filter((cut) => cut < whole.length), whole.length].toSorted((one, other) => one - other);
        const pieces = ends.map((end, index) => whole.subarray(ends[index - 1] ?? 0, end));
        const says = whole
          .toString("latin1")
          .replace(/^\xEF\xBB\xBF/u, "")
          .replaceAll("\r\n", "\n")
          .replace(/[\r\n]$/u, "");
        expect(await plain(pieces)).toBe(says);
      }),
    );
  });
});
