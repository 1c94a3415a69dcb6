/** On what it was measured. */

import { statfs } from "node:fs/promises";
import { availableParallelism, cpus, loadavg, tmpdir, totalmem } from "node:os";
import { Fault } from "@nightwriter/core";
import type { Scale } from "./scale.ts";

/** Versions and settings of the servers. */
export interface Servers {
  readonly postgres: string;
  /** Whether the buffers of PostgreSQL are in huge pages. */
  readonly hugePages: boolean;
  readonly redis: string;
}

export interface Machine extends Servers {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGib: number;
  /** Over 1, 5 and 15 minutes, before anything was started. */
  readonly load: readonly number[];
  readonly node: string;
}

/** What can be said before any server runs. */
export function describeMachine(): Omit<Machine, keyof Servers> {
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cores: availableParallelism(),
    memoryGib: Math.round(totalmem() / 2 ** 30),
    load: loadavg().map((load) => Math.round(load * 100) / 100),
    node: process.versions.node,
  };
}

/** Throws a Fault where the temporary folder has no room for the data. */
export async function assertRoom({ diskGib, name }: Scale): Promise<void> {
  const { bavail, bsize } = await statfs(tmpdir());
  const freeGib = Math.floor((bavail * bsize) / 2 ** 30);
  if (freeGib >= diskGib) return;
  throw new Fault(
    "disk_full",
    `${tmpdir()}: ${freeGib} GiB free, scale ${name} needs ${diskGib}; free some, or set TMPDIR to a larger disk`,
    { details: { freeGib, diskGib } },
  );
}
