/** What scenes need on the machine, before anything is started. */
import { Fault } from "@nightwriter/core";
import { ensureServer, ServicesFault } from "@nightwriter/services";
import type { Need, Scene } from "./scene.ts";

export interface RequirementsOptions {
  /** Whether leases have a home already: then scenes that share it need no Redis. */
  readonly leasesConfigured: boolean;
  readonly tell: (line: string) => void;
}

/**
 * Makes sure that what the scenes need is there; installs it on Debian as root, as `test` does. Throws a Fault that says in
 * one line which scenes cannot be played, what to install, and how to play the others.
 */
export async function ensureRequirements(scenes: readonly Scene[], options: RequirementsOptions): Promise<void> {
  const missing = new Map<Need, string>();
  for (const need of new Set(scenes.flatMap((scene) => needsOf(scene, options)))) {
    try {
      await ensureServer(need, options.tell);
    } catch (error) {
      if (!(error instanceof ServicesFault) || error.code !== "binaries-missing") throw error;
      missing.set(need, error.message);
    }
  }
  if (missing.size === 0) return;
  const isLost = (scene: Scene): boolean => needsOf(scene, options).some((need) => missing.has(need));
  const lost = scenes.filter(isLost).map(({ letter }) => letter);
  const others = scenes.filter((scene) => !isLost(scene)).map(({ letter }) => letter);
  const rest = others.length === 0 ? "" : `; or play the others: --scene ${others.join(",")}`;
  throw new Fault(
    "story_needs_more",
    `scenes ${lost.join(", ")} cannot be played: ${[...missing.values()].join("; ")}${rest}`,
    {
      details: { scenes: lost.join(",") },
    },
  );
}

function needsOf({ needs, configuredLeases }: Scene, { leasesConfigured }: RequirementsOptions): readonly Need[] {
  return configuredLeases && leasesConfigured ? needs.filter((need) => need !== "redis") : needs;
}
