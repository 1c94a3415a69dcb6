import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readBytes } from "./file-bytes.ts";

const text = "date,amount\n2024-01-05,1.00\n";

/** What the file says, or why it cannot be read. */
async function read(content: string | Buffer): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "nightwriter-bytes-"));
  const file = join(folder, "x");
  try {
    await writeFile(file, content);
    const pieces: Buffer[] = [];
    for await (const piece of readBytes({ file })) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Files that are stored as they are, not compressed; with a password, as if it were one. */
function zip(files: Readonly<Record<string, string>>, { hasPassword = false } = {}): Buffer {
  const [records, entries]: [Buffer[], Buffer[]] = [[], []];
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(hasPassword ? 1 : 0, 2);
    common.writeUInt32LE(crc32(bytes), 10);
    const salt = Buffer.alloc(hasPassword ? 12 : 0);
    common.writeUInt32LE(salt.length + bytes.length, 14);
    common.writeUInt32LE(bytes.length, 18);
    common.writeUInt16LE(name.length, 22);
    const entry = Buffer.alloc(14);
    entry.writeUInt32LE(
      records.reduce((sum, each) => sum + each.length, 0),
      10,
    );
    const version = Buffer.from([20, 0]);
    records.push(Buffer.concat([Buffer.from("PK\u0003\u0004"), common, Buffer.from(name), salt, bytes]));
    entries.push(Buffer.concat([Buffer.from("PK\u0001\u0002"), version, common, entry, Buffer.from(name)]));
  }
  const [all, directory] = [Buffer.concat(records), Buffer.concat(entries)];
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(all.length, 12);
  return Buffer.concat([all, directory, Buffer.from("PK\u0005\u0006"), end]);
}

describe("readBytes", () => {
  it.each([
    { what: "a zip with one file", content: zip({ "a/": "", "a/sales.csv": text }) },
    {
      what: "one that systems put files of theirs into",
      content: zip({ "s.csv": text, ".DS_Store": "x", "__MACOSX/._s.csv": "x", "Thumbs.db": "x" }),
    },
    { what: "gzip", content: gzipSync(text) },
  ])("unpacks $what", async ({ content }) => {
    expect(await read(content)).toBe(text);
  });

  it("refuses a zip whose bytes were damaged", async () => {
    const damaged = Buffer.from(zip({ "s.csv": text }).toString("latin1").replace("1.00", "9.00"), "latin1");
    expect(await read(damaged)).toBe("x: cannot be read: its checksum is another: it was damaged; get it anew");
  });

  it.each<{ what: string; content: string | Buffer; says: RegExp }>([
    { what: "two files", content: zip({ "a.csv": text, "b.csv": text }), says: /zip with 2 files \(a\.csv, b\.csv\)/ },
    { what: "no file", content: zip({ "a/": "" }), says: /zip without a file/ },
    { what: "nothing", content: zip({}), says: /zip without a file/ },
    { what: "a password", content: zip({ "a.csv": text }, { hasPassword: true }), says: /zip with a password/ },
    { what: "Excel's parts", content: zip({ "xl/workbook.xml": "", "x.xml": "" }), says: /Excel workbook \(\.xlsx\)/ },
    { what: "OpenDocument's parts", content: zip({ mimetype: "", "content.xml": "" }), says: /OpenDocument \(\.ods\)/ },
    { what: "a zip", content: zip({ "a.zip": zip({ "a.csv": text }).toString("latin1") }), says: /packed twice/ },
  ])("says of a zip with $what why it cannot be read", async ({ content, says }) => {
    expect(await read(content)).toMatch(says);
  });

  it.each<{ start: string | Buffer; says: string }>([
    { start: "\uFEFF<!DOCTYPE html>", says: "a web page" },
    { start: "<!-- log in -->\n<html>", says: "a web page" },
    { start: '<meta charset="utf-8"><table>', says: "a web page" },
    { start: "<style>td{}</style><table>", says: "a web page" },
    { start: '\uFEFF[{"date": 1}]', says: "JSON" },
    { start: "[]", says: "JSON" },
    { start: "{}", says: "JSON" },
    { start: Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('{"a": 1}', "utf16le")]), says: "JSON" },
    { start: "Rar!\u001A", says: "RAR or 7z" },
    { start: gzipSync(gzipSync(text)), says: "packed twice" },
  ])("names what is no CSV: $says", async ({ start, says }) => {
    expect(await read(start)).toContain(says);
  });

  it.each(["<TICKER>,<DATE>\n", "[Date],[Amount]\n", "{name},amount\n"])(
    "takes no header for that: %s",
    async (header) => {
      expect(await read(header)).toBe(header);
    },
  );
});
