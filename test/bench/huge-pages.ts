/**
 * Huge pages for the server's buffers, as PostgreSQL's manual advises ("Managing Kernel Resources, Linux Huge Pages"): a
 * statement that looks up thousands of pages all over them spends a quarter of its time in address translation without.
 *
 * The kernel is allowed to hand out that many, not made to set them aside: they are taken when the server starts and free
 * again when it ends, however it ends.
 */
import { readFile, writeFile } from "node:fs/promises";

const limitFile = "/proc/sys/vm/nr_overcommit_hugepages";

/** What a server shares besides its buffers is well below this, in MB. */
const besidesBuffersMb = 400;

/**
 * Until it is disposed of, a server with these buffers gets huge pages of 2 MB. Nothing is changed where that is not ours to
 * decide, not being root or not on Linux: the server then starts with ordinary pages.
 */
export async function allowHugePages(buffersMb: number): Promise<AsyncDisposable> {
  const before = await readFile(limitFile, "utf8").catch(() => undefined);
  const wanted = (buffersMb + besidesBuffersMb) / 2;
  if (before === undefined || Number(before) >= wanted || !(await setLimit(String(wanted)))) return nothing;
  return { [Symbol.asyncDispose]: async () => void (await setLimit(before)) };
}

const nothing: AsyncDisposable = { [Symbol.asyncDispose]: async () => {} };

async function setLimit(pages: string): Promise<boolean> {
  return writeFile(limitFile, pages).then(
    () => true,
    () => false,
  );
}
