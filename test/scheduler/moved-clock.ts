import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** The wall clock of one process, which can be moved while it runs. */
export interface MovedClock extends AsyncDisposable {
  /** For the process. */
  readonly environment: Readonly<Record<string, string>>;
  /** From now on the process's clock is ahead of the machine's by so much. */
  readonly setAhead: (ms: number) => Promise<void>;
}

export async function movedClock(aheadMs: number): Promise<MovedClock> {
  const folder = await mkdtemp(join(tmpdir(), "nightwriter-clock-"));
  const file = join(folder, "ahead");
  const setAhead = async (ms: number): Promise<void> => {
    await writeFile(`${file}.new`, String(ms));
    await rename(`${file}.new`, file);
  };
  await setAhead(aheadMs);
  const preload = pathToFileURL(resolve(import.meta.dirname, "programs/moved-clock.ts")).href;
  return {
    environment: { NODE_OPTIONS: `--import=${preload}`, TEST_CLOCK_FILE: file },
    setAhead,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}
