/**
 * Huge pages for the server's buffers, as PostgreSQL's manual advises ("Managing Kernel Resources, Linux Huge Pages"): a
 * statement that looks up thousands of pages all over them spends a quarter of its time in address translation without.
 *
 * The kernel is allowed to hand out that many, not made to set them aside: the server takes them when it starts, and they are
 * free again when it ends, however it ends.
 */
import { readFile, writeFile } from "node:fs/promises";

/** What a server shares besides its buffers is well below this, in MB. */
const besidesBuffersMb = 400;

/**
 * Until it is disposed of, a server with these buffers may start with huge pages of 2 MB; it keeps them afterwards. Nothing is
 * changed where that is not ours to decide, not being root or not on Linux: the server then has ordinary pages.
 */
export async function allowHugePages(
  buffersMb: number,
  limitFile = "/proc/sys/vm/nr_overcommit_hugepages",
): Promise<AsyncDisposable> {
  const before = await readFile(limitFile, "utf8").catch(() => undefined);
  const setLimit = async (pages: string): Promise<void> => writeFile(limitFile, pages).catch(() => {});
  // Others may have some of what is allowed already.
  if (before !== undefined) await setLimit(String(Number(before) + (buffersMb + besidesBuffersMb) / 2));
  return {
    [Symbol.asyncDispose]: async () => {
      if (before !== undefined) await setLimit(before);
    },
  };
}
