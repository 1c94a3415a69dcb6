/**
 * Who a server runs as, and which folders that user can get at.
 *
 * PostgreSQL refuses to run as root, and Redis should not. Started by root, both run as `nobody`, which every system
 * has: making a user would change the machine, and Debian's `postgres` may own clusters that are not ours. (A bare
 * numeric uid is not enough: initdb wants a name for it.) Started by anybody else they run as that user.
 */

import { chown, mkdir, readdir, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { execa } from "execa";
import { ServicesFault } from "./fault.ts";

/** All the environment that servers and their tools get: PGPORT, LANG and the like must not reach them. */
export const SERVER_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: "/usr/local/bin:/usr/bin:/bin",
  LC_ALL: "C",
  TZ: "UTC",
};

export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

/** The user that servers are started as; undefined where it is the one that this process runs as. */
export async function serverUser(): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all([execa("id", ["-u", "nobody"]), execa("id", ["-g", "nobody"])]);
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

/**
 * Makes sure that the folder exists and that the user can work in it; returns its real path. A new or empty folder is
 * given to the user, one with something in it keeps its owner. Fault `folder-closed` where the user cannot reach it.
 */
export async function openFolder(folder: string, user: ServerUser | undefined): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = await realpath(folder);
  if (user === undefined) return path;
  const closed = await closedFolderAbove(path, user);
  if (closed !== undefined) {
    throw new ServicesFault(
      "folder-closed",
      `data folder ${path}: ${closed} is closed to the user nobody, whom servers of root run as; ` +
        "choose another folder, such as /var/lib/nightwriter",
      { details: { folder: path, closed } },
    );
  }
  if ((await readdir(path)).length === 0) await chown(path, user.uid, user.gid);
  return path;
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
