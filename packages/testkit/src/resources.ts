/** What a test file has taken and must give back: databases, queues, processes. */

const open = new Map<symbol, { readonly name: string; readonly release: () => Promise<void> }>();

/** Returns the release, to be called at most once to any effect, and remembers the resource until that was called. */
export function registerResource(name: string, release: () => Promise<void>): () => Promise<void> {
  const key = Symbol(name);
  const releaseOnce = async (): Promise<void> => {
    if (open.delete(key)) await release();
  };
  open.set(key, { name, release: releaseOnce });
  return releaseOnce;
}

/** Releases what was not given back; returns a line for each, with the error that its release threw. */
export async function releaseForgotten(): Promise<readonly string[]> {
  const forgotten = [...open.values()];
  const lines: string[] = [];
  for (const { name, release } of forgotten) {
    const failure = await release().then(
      () => "",
      (error: unknown) => `; ${String(error)}`,
    );
    lines.push(`${name} was not disposed of${failure}`);
  }
  return lines;
}
