/** Runs before the product does, in its own process: see `mutatedBuild`. */

import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

/** What is written otherwise than in the checkout. */
export interface Mutation {
  /** The source file, from the root of the checkout. */
  readonly file: string;
  /** A text that is in that file exactly once. */
  readonly replace: string;
  readonly by: string;
}

export const appliedMessage = "mutated build";

/** Throws where a text is not in its file exactly once: a mutation that changes nothing would prove nothing. */
export function loadMutated(root: string, mutations: readonly Mutation[]): void {
  const byUrl = Map.groupBy(mutations, ({ file }) => pathToFileURL(`${root}/${file}`).href);
  for (const [url, own] of byUrl) mutate(readFileSync(new URL(url), "utf8"), own);
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      const own = byUrl.get(url);
      if (own === undefined || loaded.source === undefined) return loaded;
      const text = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source);
      for (const { file } of own) process.stdout.write(`${JSON.stringify({ level: 30, msg: appliedMessage, file })}\n`);
      return { ...loaded, source: mutate(text, own) };
    },
  });
}

function mutate(source: string, mutations: readonly Mutation[]): string {
  let mutated = source;
  for (const { file, replace, by } of mutations) {
    const [before, after, ...more] = mutated.split(replace);
    if (before === undefined || after === undefined || more.length > 0) {
      const count = mutated.split(replace).length - 1;
      throw new Error(`mutated build: ${file} has ${JSON.stringify(replace)} ${count} times, not once`);
    }
    mutated = before + by + after;
  }
  return mutated;
}
