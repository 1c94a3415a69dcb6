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
    { what: "Ctrl-Z at the end", content: "a\nb\x1A", says: "a\nb" },
    { what: "Ctrl-Z on a line of its own, and its line end", content: "a\nb\r\n\x1A\r\n", says: "a\nb" },
    { what: "a block that Ctrl-Zs fill", content: `a\nb\n${"\x1A".repeat(126)}`, says: "a\nb" },
    { what: "all there is", content: "\xEF\xBB\xBF\r\n", says: "" },
  ])("leaves out $what", async ({ content, says }) => {
    expect(await plain([Buffer.from(content, "latin1")])).toBe(says);
  });

  it.each([
    { what: "blank lines at the end but the last", content: "a\n\n\n", says: "a\n\n" },
    { what: "a carriage return in a line", content: "a\rb\n", says: "a\rb" },
    { what: "Ctrl-Z elsewhere", content: "a\n\x1Ab\n", says: "a\n\x1Ab" },
    { what: "half a byte order mark", content: "\xEF\xBB", says: "\xEF\xBB" },
    { what: "a byte order mark elsewhere", content: "a\xEF\xBB\xBF", says: "a\xEF\xBB\xBF" },
    { what: "every other byte", content: "\0\x80\xFFé", says: "\0\x80\xFFé" },
  ])("keeps $what", async ({ content, says }) => {
    expect(await plain([Buffer.from(content, "latin1")])).toBe(says);
  });

  it("takes carriage returns for line ends where there are no others", async () => {
    expect(await plain([Buffer.from("a\rb\r\rc\r")])).toBe("a\nb\n\nc");
    const lines = "0123456789\r".repeat(20_000);
    const pieces = Array.from({ length: 11 }, (_, index) =>
      Buffer.from(lines.slice(index * 20_000, (index + 1) * 20_000)),
    );
    expect(await plain(pieces)).toBe(lines.slice(0, -1).replaceAll("\r", "\n"));
  });

  it("knows the line end of a long first line, cut in two", async () => {
    const line = "a".repeat(65_535);
    expect(await plain([Buffer.from(`${line}\r`), Buffer.from("\nb\rc\n")])).toBe(`${line}\nb\rc`);
  });

  it("says the same however the bytes are cut", async () => {
    const bytes = fc.array(fc.constantFrom("\r", "\n", "a", "\x1A", "\xEF", "\xBB", "\xBF", "\xEF\xBB\xBF"), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(bytes, fc.array(fc.nat({ max: 20 })), async (parts, cuts) => {
        const whole = Buffer.from(parts.join(""), "latin1");
        const ends = [...cuts.filter((cut) => cut < whole.length), whole.length].toSorted((one, other) => one - other);
        const pieces = ends.map((end, index) => whole.subarray(ends[index - 1] ?? 0, end));
        const unmarked = whole.toString("latin1").replace(/^\xEF\xBB\xBF/u, "");
        const says = (
          unmarked.includes("\n") ? unmarked.replaceAll("\r\n", "\n") : unmarked.replaceAll("\r", "\n")
        ).replace(new RegExp(String.raw`[\r\n]?\x1A+[\r\n]?$|[\r\n]$`, "u"), "");
        expect(await plain(pieces)).toBe(says);
      }),
    );
  });
});
