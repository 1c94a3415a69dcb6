/** A build of the product with a text of its source replaced: a check taken out, or trouble planted at a named point. */

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { appliedMessage, loadMutated, type Mutation } from "./mutating-loader.ts";
import type { App } from "./spawn-app.ts";

export type { Mutation } from "./mutating-loader.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

/** A build that differs from the checkout, on disk nowhere. */
export interface MutatedBuild {
  /** For `spawnApp`: whatever Node process gets it, and each that it starts, loads the mutated source. */
  readonly environment: Readonly<Record<"NODE_OPTIONS", string>>;
  /** Waits until the process has loaded every file that is mutated. Rejects if it ends before, or does not load it in 20 s. */
  readonly loadedBy: (app: Pick<App, "waitForLog">) => Promise<void>;
}

/**
 * Mutations of the product's source, for processes that are started with the `environment`. A process refuses to start
 * where a text is not in its file exactly once, so that a mutation cannot outlive the text that it was written for; whether
 * the file was loaded at all, `loadedBy` knows.
 *
 * @example
 * const build = mutatedBuild({ file: "packages/ledger/src/append-entries.ts", replace: "where v = 1", by: "" });
 * await using app = await spawnApp("apps/worker/src/main.ts", { ...environment, ...build.environment });
 * await build.loadedBy(app);
 */
export function mutatedBuild(...mutations: readonly Mutation[]): MutatedBuild {
  const loader = pathToFileURL(resolve(import.meta.dirname, "mutating-loader.ts")).href;
  const preload = `
    import { ${loadMutated.name} } from ${JSON.stringify(loader)};
    ${loadMutated.name}(${JSON.stringify(ROOT)}, ${JSON.stringify(mutations)});`;
  const encoded = Buffer.from(preload).toString("base64");
  return {
    environment: { NODE_OPTIONS: `--import=data:text/javascript;base64,${encoded}` },
    loadedBy: async (app) => {
      for (const { file } of mutations)
        await app.waitForLog((line) => line.msg === appliedMessage && line["file"] === file);
    },
  };
}
