import { readdir, readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

/** Stops a process and returns when all its threads have stopped, which SIGSTOP does not wait for. SIGCONT ends it. */
export async function freeze(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  while (!(await isFrozen(pid))) await setTimeout(1);
}

async function isFrozen(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`);
  const states = threads.map(async (thread) => {
    const stat = await readFile(`/proc/${pid}/task/${thread}/stat`, "utf8");
    // The name of the thread is in parentheses, and may hold anything.
    return stat.slice(stat.lastIndexOf(")") + 2).startsWith("T");
  });
  return (await Promise.all(states)).every(Boolean);
}
