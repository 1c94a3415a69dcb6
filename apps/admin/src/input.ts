/** Files that a verb reads, of which one may be standard input: it is written to a file first, because an import is read twice. */
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

export interface Input extends AsyncDisposable {
  /** The path of a file as it was named. */
  pathOf(file: string): string;
}

const standardInput = "-";

/**
 * Reads standard input to its end if it is one of the files. What was written of it goes when it is disposed, and when the signal is aborted
 * before that: its reason is thrown then.
 */
export async function openInput(
  files: readonly string[],
  { signal, source = process.stdin }: { readonly signal: AbortSignal; readonly source?: Readable },
): Promise<Input> {
  if (!files.includes(standardInput)) return { pathOf: (file) => file, [Symbol.asyncDispose]: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), `nightwriter-input-${process.pid}-`));
  const path = join(folder, "stdin");
  const dispose = async (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await pipeline(source, createWriteStream(path, { mode: 0o600 }), { signal });
  } catch (error) {
    await dispose();
    throw signal.aborted ? signal.reason : error;
  }
  return { pathOf: (file) => (file === standardInput ? path : file), [Symbol.asyncDispose]: dispose };
}
