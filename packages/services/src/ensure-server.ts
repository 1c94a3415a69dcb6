/** Servers that do not come from npm: where they are, and how they get here. */

import { access, constants, readdir } from "node:fs/promises";
import { dirname } from "node:path";
import { execa } from "execa";
import { type DebianPackages, installDebianPackages } from "./debian-package.ts";
import { ServicesFault } from "./fault.ts";

/** A server that tests need and npm does not have; `faketime` is no server but gives one a clock that can be moved. */
export type SystemServer = "postgres-15" | "redis" | "etcd" | "zookeeper" | "faketime";

const POSTGRES_15_FOLDERS = [
  "/usr/lib/postgresql/15/bin",
  "/usr/pgsql-15/bin",
  "/opt/homebrew/opt/postgresql@15/bin",
  "/usr/local/opt/postgresql@15/bin",
];

const ZOOKEEPER_JAR = "/usr/share/java/zookeeper.jar";

const DEBIAN_PACKAGES: Readonly<Record<SystemServer, DebianPackages>> = {
  // Its service is that of all clusters on the machine, and ours makes none.
  "postgres-15": { names: ["postgresql-15"] },
  redis: { names: ["redis-server"], service: "redis-server" },
  etcd: { names: ["etcd-server"], service: "etcd" },
  // Not zookeeperd: the server is a jar, and its library brings that without a user, a service, or a desktop for Java.
  zookeeper: { names: ["libzookeeper-java", "default-jre-headless"] },
  faketime: { names: ["libfaketime"] },
};

const HINTS: Readonly<Record<SystemServer, string>> = {
  "postgres-15":
    "PostgreSQL 15: no programs found; install them (apt-get install postgresql-15 on Debian 12, brew install postgresql@15)",
  redis:
    "redis-server: not found on PATH; install redis-server or valkey-server (apt-get install redis-server, brew install redis)",
  etcd: "etcd: not found on PATH; install it (apt-get install etcd-server, brew install etcd)",
  zookeeper: `ZooKeeper: no java on PATH or no ${ZOOKEEPER_JAR}; install both (apt-get install libzookeeper-java default-jre-headless)`,
  faketime: "libfaketime: not found; install it (apt-get install libfaketime); it works on Linux only",
};

/**
 * Returns where the server's programs are: for `redis` the path of `redis-server` or `valkey-server`, for `etcd` of `etcd`,
 * for `zookeeper` of its jar (there is a `java` then, too), for `faketime` of the library that a server is started with, for `postgres-15` the folder with `postgres` and `initdb`, as
 * {@link startPostgres} takes it in `binDir`.
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
  const packages = DEBIAN_PACKAGES[server];
  const name = packages.names.join(" and ");
  say(`${server} is not on this machine: installing Debian's ${name} with apt-get`);
  await installDebianPackages(packages);
  const installed = await findServer(server);
  if (installed !== undefined) return installed;
  throw new ServicesFault("install-failed", `${name}: installed, yet its programs are not found`);
}

/** What to install, in one line, for a message. */
export function hintFor(server: SystemServer): string {
  return HINTS[server];
}

async function findServer(server: SystemServer): Promise<string | undefined> {
  switch (server) {
    case "postgres-15":
      return findPostgres15();
    case "redis":
      return findRedis();
    case "etcd":
      return findEtcd();
    case "zookeeper":
      return (await findZookeeper())?.jar;
    case "faketime":
      return findFaketime();
  }
}

/** The Redis server on PATH; undefined if there is none. */
export async function findRedis(): Promise<string | undefined> {
  return (await onPath("redis-server")) ?? (await onPath("valkey-server"));
}

/** The etcd server on PATH; undefined if there is none. */
export async function findEtcd(): Promise<string | undefined> {
  return onPath("etcd");
}

/** Debian's ZooKeeper and the Java on PATH; undefined if either is missing. */
export async function findZookeeper(): Promise<{ readonly java: string; readonly jar: string } | undefined> {
  const java = await onPath("java");
  return java !== undefined && (await isThere(ZOOKEEPER_JAR, constants.R_OK))
    ? { java, jar: ZOOKEEPER_JAR }
    : undefined;
}

/** libfaketime, wherever Linux distributions put it; undefined if it is nowhere. */
export async function findFaketime(): Promise<string | undefined> {
  const folders = await readdir("/usr/lib", { withFileTypes: true }).catch(() => []);
  const multiarch = folders.filter((folder) => folder.name.includes("-linux-")).map(({ name }) => `/usr/lib/${name}`);
  for (const folder of [...multiarch, "/usr/lib64", "/usr/lib", "/usr/local/lib"]) {
    const library = `${folder}/faketime/libfaketime.so.1`;
    if (await isThere(library, constants.R_OK)) return library;
  }
  return undefined;
}

async function findPostgres15(): Promise<string | undefined> {
  for (const folder of POSTGRES_15_FOLDERS) {
    if (await isThere(`${folder}/postgres`, constants.X_OK)) return folder;
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

async function isThere(file: string, mode: number): Promise<boolean> {
  return access(file, mode).then(
    () => true,
    () => false,
  );
}
