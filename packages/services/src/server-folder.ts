/** The folder that a server works in: one that stays, or a temporary one. */

import { chown, mkdir, mkdtemp, readdir, realpath, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ServicesFault } from "./fault.ts";
import type { ServerUser } from "./server-user.ts";

export interface ServerFolder {
  /** The real path. */
  readonly path: string;
  readonly temporary: boolean;
  /** Removes a temporary folder; does nothing to one that stays. */
  readonly release: () => Promise<void>;
}

export interface FolderOptions {
  /** The folder that stays; undefined for a temporary one. */
  readonly wanted: string | undefined;
  /** For the name of a temporary one. */
  readonly server: "postgres" | "redis" | "etcd" | "zookeeper";
  readonly user: ServerUser | undefined;
}

/**
 * Makes sure that the folder exists and that the user can work in it. A new or empty folder is given to the user, one with
 * something in it keeps its owner. Fault `folder-closed` where the user cannot reach it.
 */
export async function openFolder({ wanted, server, user }: FolderOptions): Promise<ServerFolder> {
  const temporary = wanted === undefined;
  const folder = wanted ?? (await mkdtemp(join(tmpdir(), `nightwriter-${server}-`)));
  const release = async (): Promise<void> => {
    if (temporary) await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  };
  try {
    await mkdir(folder, { recursive: true });
    const path = await realpath(folder);
    if (user !== undefined) await giveTo(path, user);
    return { path, temporary, release };
  } catch (error) {
    await release();
    throw error;
  }
}

async function giveTo(path: string, user: ServerUser): Promise<void> {
  const closed = await closedFolderAbove(path, user);
  if (closed === undefined) {
    if ((await readdir(path)).length === 0) await chown(path, user.uid, user.gid);
    return;
  }
  throw new ServicesFault(
    "folder-closed",
    `data folder ${path}: ${closed} is closed to the user nobody, whom servers of root run as; ` +
      "choose another folder, such as /var/lib/nightwriter",
    { details: { folder: path, closed } },
  );
}

/** The outermost folder above `path` that the user may not pass through, if there is one. */
async function closedFolderAbove(path: string, user: ServerUser): Promise<string | undefined> {
  const above = dirname(path);
  if (above === path) return undefined;
  const closed = await closedFolderAbove(above, user);
  if (closed !== undefined) return closed;
  const { mode, uid, gid } = await stat(above);
  // Unix asks the first class that fits and no other: an owner without the bit is refused although others have it.
  const pass = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
  return (mode & pass) === 0 ? above : undefined;
}
