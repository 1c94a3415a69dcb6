/**
 * A data folder: `cluster/` is PostgreSQL's own data directory, made aside and renamed into place, so that a cluster that
 * is there is complete. The superuser's password lies in it, readable as the data itself is.
 */

import { randomBytes } from "node:crypto";
import { chown, mkdir, readFile, readlink, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { ServicesFault } from "./fault.ts";
import { startGuarded } from "./guarded-process.ts";
import type { PostgresBinaries } from "./postgres-binaries.ts";
import type { ServerFolder } from "./server-folder.ts";
import { SERVER_ENVIRONMENT, type ServerUser } from "./server-user.ts";

const PASSWORD_FILE = "nightwriter.password";
const LOCK_FILE = "postmaster.pid";
const LEAVING_MS = 5_000;
const POLL_MS = 20;

export const SUPERUSER = "postgres";

export interface Cluster {
  readonly folder: string;
  readonly password: string;
}

export interface ClusterOptions {
  readonly binaries: PostgresBinaries;
  readonly user: ServerUser | undefined;
  /** Whether initdb flushes what it wrote; only a cluster that runs with fsync=off may do without. */
  readonly sync: boolean;
}

/** The cluster in the data folder, made if there is none; ready to be started by this process. */
export async function openCluster(dataFolder: ServerFolder, options: ClusterOptions): Promise<Cluster> {
  const folder = join(dataFolder.path, "cluster");
  const found = await readIfThere(join(folder, "PG_VERSION"));
  if (found === undefined) await createCluster(dataFolder, folder, options);
  else await checkMajor(dataFolder.path, Number(found), options.binaries);
  await releaseLockFile(folder);
  return { folder, password: await readFile(join(folder, PASSWORD_FILE), "utf8") };
}

async function createCluster(dataFolder: ServerFolder, folder: string, options: ClusterOptions): Promise<void> {
  const aside = `${folder}.${randomBytes(4).toString("hex")}.new`;
  const passwordFile = `${aside}.password`;
  const made = [aside, passwordFile];
  try {
    await mkdir(aside, { mode: 0o700 });
    await writeFile(passwordFile, randomBytes(16).toString("hex"), { mode: 0o600, flag: "wx" });
    const { user } = options;
    if (user !== undefined) await Promise.all(made.map((path) => chown(path, user.uid, user.gid)));
    await initdb([`--pgdata=${aside}`, `--pwfile=${passwordFile}`], dataFolder, options);
    await rename(passwordFile, join(aside, PASSWORD_FILE));
    await rename(aside, folder);
  } catch (cause) {
    // Somebody else's cluster is there by now, and complete.
    if (codeOf(cause) === "ENOTEMPTY" || codeOf(cause) === "EEXIST") return;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServicesFault(
      "did-not-start",
      `data folder ${dataFolder.path}: no cluster could be made in it; ${reason}`,
      {
        cause,
        details: { folder: dataFolder.path },
      },
    );
  } finally {
    await Promise.all(made.map((path) => rm(path, { recursive: true, force: true })));
  }
}

async function initdb(where: readonly string[], dataFolder: ServerFolder, options: ClusterOptions): Promise<void> {
  const { binaries, user, sync } = options;
  const args = [...where, ...localeOf(binaries), `--username=${SUPERUSER}`, "--auth=scram-sha-256"];
  args.push("--encoding=UTF8", "--lc-messages=C", "--no-instructions");
  if (!sync) args.push("--no-sync");
  const run = await startGuarded({
    file: join(binaries.binDir, "initdb"),
    args,
    folder: dataFolder.path,
    temporary: dataFolder.temporary,
    environment: SERVER_ENVIRONMENT,
    onlyEnvironment: true,
    user,
  });
  await run.closed;
  if (run.exit()?.code !== 0) throw new Error(run.tail().join("\n"));
}

/**
 * Text sorts by code point, whatever locales the system has. From 17 on the server brings such a locale itself; before,
 * libc's C.UTF-8, which Debian always has.
 */
function localeOf({ major }: PostgresBinaries): readonly string[] {
  if (major < 17) return ["--locale=C.UTF-8"];
  return ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
}

async function checkMajor(dataDir: string, found: number, { major, binDir }: PostgresBinaries): Promise<void> {
  if (found === major) return;
  throw new ServicesFault(
    "other-major-version",
    `data folder ${dataDir}: made by PostgreSQL ${found}, the programs in ${binDir} are ${major}; ` +
      "choose another folder, or move its data with pg_dump",
    { details: { folder: dataDir, found, expected: major } },
  );
}

/**
 * Waits for a server that is on its way out, and disarms a lock file whose pid belongs to something else by now.
 *
 * PostgreSQL itself takes over the lock of a dead pid, but not that of a pid that was handed out again, as happens after
 * a restart of the machine or the container. The file is not removed, since its other lines let PostgreSQL find orphaned
 * backends that still write: only its pid becomes ours, and a server takes its own parent's pid for stale.
 */
async function releaseLockFile(folder: string): Promise<void> {
  const file = join(folder, LOCK_FILE);
  const deadline = performance.now() + LEAVING_MS;
  for (;;) {
    const content = await readIfThere(file);
    if (content === undefined) return;
    const [pidLine = "", ...rest] = content.split("\n");
    const pid = Number(pidLine);
    if (pid <= 0 && performance.now() < deadline) {
      // A server that has made the file a moment ago, and not yet written itself into it.
      await setTimeout(POLL_MS);
      continue;
    }
    if (!isAlive(pid)) return;
    if (!(await worksIn(pid, folder))) {
      await writeFile(file, [String(process.pid), ...rest].join("\n"));
      return;
    }
    if (performance.now() > deadline) {
      throw new ServicesFault("folder-in-use", `data folder ${folder}: a server with pid ${pid} runs on it; stop it`, {
        details: { folder, pid },
        retryable: true,
      });
    }
    await setTimeout(POLL_MS);
  }
}

/** Whether the server with this pid says in its lock file that it takes connections. */
export async function isReady(folder: string, pid: number): Promise<boolean> {
  const lines = (await readIfThere(join(folder, LOCK_FILE)))?.split("\n") ?? [];
  return Number(lines[0]) === pid && lines[7]?.trim() === "ready";
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}

/** Whether the process works in the folder, as a PostgreSQL server does in its own. Where nobody can say, it does. */
async function worksIn(pid: number, folder: string): Promise<boolean> {
  if (process.platform !== "linux") return true;
  try {
    return (await readlink(`/proc/${pid}/cwd`)) === folder;
  } catch (error) {
    return codeOf(error) !== "ENOENT";
  }
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
