import type { Environment } from "./load-config.ts";

/** This process's environment with some variables set or, where a value is undefined, taken out: for a process that is to be started. */
export function extendEnvironment(extra: Environment): Record<string, string> {
  const all = Object.entries({ ...process.env, ...extra });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
}
