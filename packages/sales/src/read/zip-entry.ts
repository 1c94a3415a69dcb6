import { basename } from "node:path";
import type { Readable } from "node:stream";
import { type Entry, openPromise } from "yauzl";
import { ImportFault } from "../import-fault.ts";

/** More are not named one by one. */
const maxEntries = 1_000;

/** The bytes of the only file in a zip. Throws ImportFault `file_unreadable` for a workbook, and where there is none or more than one; what yauzl throws. */
export async function openZipEntry(file: string): Promise<Readable> {
  const zip = await openPromise(file, { autoClose: false });
  try {
    const entries: Entry[] = [];
    for await (const entry of zip.eachEntry()) if (entries.push(entry) === maxEntries) break;
    const [entry, ...others] = entries.filter(({ fileName }) => !/\/$|^__MACOSX\//u.test(fileName));
    if (entry === undefined || others.length > 0) throw notOne(file, entries);
    const stream = await zip.openReadStreamPromise(entry);
    stream.once("close", () => zip.close());
    return stream;
  } catch (error) {
    zip.close();
    throw error;
  }
}

function notOne(file: string, entries: readonly Entry[]): ImportFault {
  const names = entries.map(({ fileName }) => fileName);
  const isWorkbook = names.some((each) => each.startsWith("xl/"));
  const fact = isWorkbook
    ? "is an Excel workbook (.xlsx) and no CSV; save it as CSV"
    : `is a zip with ${names.length} files (${names.slice(0, 5).join(", ")}); unpack it, and import each`;
  return new ImportFault("file_unreadable", `${basename(file)}: ${fact}`, { details: { file } });
}
