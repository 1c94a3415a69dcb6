/**
 * Who a server runs as.
 *
 * PostgreSQL refuses to run as root, and Redis should not. Started by root, both run as `nobody`, which every system
 * has: making a user would change the machine, and Debian's `postgres` may own clusters that are not ours. (A bare
 * numeric uid is not enough: initdb wants a name for it.) Started by anybody else they run as that user.
 */

import { execa } from "execa";

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
