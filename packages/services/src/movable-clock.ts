/**
 * A wall clock that belongs to one program alone and can jump while that runs: libfaketime, loaded into it, adds what a file
 * says to every answer of the system's clock. The monotonic clock stays as it is, as it does when somebody sets a machine's time.
 */

import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findFaketime, hintFor } from "./ensure-server.ts";
import { ServicesFault } from "./fault.ts";

/**
 * glibc's own allocator, ahead of whatever the program is linked with. jemalloc, with which Debian's Redis comes, asks for the
 * time while it initialises itself, which libfaketime cannot answer before it has allocated memory: they wait for each other
 * (libfaketime's issue 130). Where glibc is too old to have this library the loader goes on without it.
 */
const PLAIN_MALLOC = "libc_malloc_debug.so.0";

export interface MovableClock {
  /** For the program's environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Moves the clock from where it is now. The program sees it the next time it looks. */
  readonly move: (byMs: number) => Promise<void>;
}

/** A clock, right at first, that is told through a file in this folder. Throws a ServicesFault `binaries-missing`. */
export async function openMovableClock(folder: string): Promise<MovableClock> {
  const library = await findFaketime();
  if (library === undefined || process.platform !== "linux") {
    throw new ServicesFault("binaries-missing", hintFor("faketime"), { details: { server: "faketime" } });
  }
  const file = join(folder, "nightwriter.clock");
  let offsetMs = 0;
  const move = async (byMs: number): Promise<void> => {
    offsetMs += byMs;
    const sign = offsetMs < 0 ? "-" : "+";
    // Renamed into place: the program may look at any moment, and half a number is another number.
    await writeFile(`${file}.new`, `${sign}${Math.abs(offsetMs) / 1_000}\n`, { mode: 0o644 });
    await rename(`${file}.new`, file);
  };
  await move(0);
  const environment = {
    LD_PRELOAD: `${PLAIN_MALLOC}:${library}`,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    // Shared memory is for child processes, and would be left behind by a server that is killed.
    FAKETIME_DISABLE_SHM: "1",
  };
  return { environment, move };
}
