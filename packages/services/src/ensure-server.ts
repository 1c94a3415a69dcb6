/** Servers that do not come from npm: where they are, and how they get here. */

import { access, constants } from "node:fs/promises";
import { dirname } from "node:path";
import { execa } from "execa";
import { installDebianPackage } from "./debian-package.ts";
import { ServicesFault } from "./fault.ts";

/** A server that tests need and npm does not have. */
export type SystemServer = "postgres-15" | "redis";

const POSTGRES_15_FOLDERS = [
  "/usr/lib/postgresql/15/bin",
  "/usr/pgsql-15/bin",
  "/opt/homebrew/opt/postgresql@15/bin",
  "/usr/local/opt/postgresql@15/bin",
];

const DEBIAN_PACKAGE: Readonly<Record<SystemServer, string>> = {
  "postgres-15": "postgresql-15",
  redis: "redis-server",
};

/**
 * Returns where the server's programs are: for `redis` the path of `redis-server` or `valkey-server`, for `postgres-15`
 * the folder with `postgres` and `initdb`, as {@link startPostgres} takes it in `binDir`.
 *
 * Where there are none, and the system is Debian-like and we are root, installs Debian's package with apt-get, saying so
 * in one line; no server is started or left to start by itself, no cluster is made. Elsewhere throws a
 * {@link ServicesFault}: `binaries-missing`, its message what to install and how; `install-failed` with apt's output.
 */
export async function ensureServer(
  server: SystemServer,
  say: (line: string) => void = (line) => process.stderr.write(`${line}\n`),
): Promise<string> {
  const present = await findServer(server);
  if (present !== undefined) return present;
  if (process.getuid?.() !== 0 || (await onPath("apt-get")) === undefined) {
    throw new ServicesFault("binaries-missing", hintFor(server), { details: { server } });
  }
  const name = DEBIAN_PACKAGE[server];
  say(`${name} is not on this machine: installing Debian's package with apt-get`);
  await installDebianPackage(name);
  const installed = await findServer(server);
  if (installed !== undefined) return installed;
  throw new ServicesFault("install-failed", `package ${name}: installed, yet its programs are not found`);
}

/** What to install, in one line, for a message. */
export function hintFor(server: SystemServer): string {
  return server === "redis"
    ? "redis-server: not found on PATH; install redis-server or valkey-server (apt-get install redis-server, brew install redis)"
    : "PostgreSQL 15: no programs found; install them (apt-get install postgresql-15 on Debian 12, brew install postgresql@15)";
}

async function findServer(server: SystemServer): Promise<string | undefined> {
  return server === "redis" ? findRedis() : findPostgres15();
}

/** The Redis server on PATH; undefined if there is none. */
export async function findRedis(): Promise<string | undefined> {
  return (await onPath("redis-server")) ?? (await onPath("valkey-server"));
}

async function findPostgres15(): Promise<string | undefined> {
  for (const folder of POSTGRES_15_FOLDERS) {
    if (await isExecutable(`${folder}/postgres`)) return folder;
  }
  const postgres = await onPath("postgres");
  if (postgres === undefined) return undefined;
  const { stdout } = await execa(postgres, ["--version"], { reject: false });
  return stdout.includes("(PostgreSQL) 15.") ? dirname(postgres) : undefined;
}

async function onPath(program: string): Promise<string | undefined> {
  const { stdout, exitCode } = await execa("sh", ["-c", 'command -v "$1"', "sh", program], { reject: false });
  return exitCode === 0 ? stdout : undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
