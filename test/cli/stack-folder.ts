/** A temporary folder for a whole installation, and what still runs in it. */
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";

export interface StackFolder extends AsyncDisposable {
  /** Give it to a verb as TMPDIR: everything that it starts then carries this path in a setting or an argument. */
  readonly path: string;
  /** Every process that was started under the folder and stays: watchdogs leave a moment after what they watched. */
  readonly leftRunning: () => Promise<string[]>;
}

export async function stackFolder(): Promise<StackFolder> {
  const path = await mkdtemp(join(tmpdir(), "nightwriter-stack-"));
  // Started by root, servers run as nobody, who has to pass through.
  await chmod(path, 0o755);
  return {
    path,
    leftRunning: () => stayingUnder(path),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}

async function stayingUnder(folder: string): Promise<string[]> {
  const deadline = performance.now() + 15_000;
  for (;;) {
    const found = await processesUnder(folder);
    if (found.length === 0 || performance.now() > deadline) return found;
    await setTimeout(50);
  }
}

async function processesUnder(folder: string): Promise<string[]> {
  const found: string[] = [];
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  for (const pid of pids) {
    const read = async (name: string): Promise<string> => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "");
    const command = await read("cmdline");
    if (`${command}${await read("environ")}`.includes(folder)) found.push(`${pid}: ${command.replaceAll("\0", " ")}`);
  }
  return found;
}
