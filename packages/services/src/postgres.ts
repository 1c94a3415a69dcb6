/** A PostgreSQL server of one's own, from programs that came with the packages. */

import { join } from "node:path";
import { invariant } from "@nightwriter/core";
import type { ProcessExit } from "./guarded-process.ts";
import { findPostgres } from "./postgres-binaries.ts";
import { isReady, openCluster, SUPERUSER } from "./postgres-cluster.ts";
import { openFolder } from "./server-folder.ts";
import { HOST, launchServer } from "./server-launch.ts";
import { SERVER_ENVIRONMENT, serverUser } from "./server-user.ts";

/** Where a server's data are and how it runs; every field may be left out. */
export interface PostgresOptions {
  /** The folder whose data stay; made if missing. Absent: a temporary one, removed with the server. */
  readonly dataDir?: string;
  /** Absent: a free one. */
  readonly port?: number;
  /** Server parameters, such as `{ fsync: "off" }` for tests that crash nothing. */
  readonly settings?: Readonly<Record<string, string>>;
  /** The folder with `postgres` and `initdb`, of version 15 or later. Absent: version 18 from the npm package. */
  readonly binDir?: string;
  /** Gets each line of the server's log. */
  readonly log?: (line: string) => void;
}

/** A PostgreSQL server that takes connections. Disposal is a fast `stop`. */
export interface PostgresService extends AsyncDisposable {
  /** The superuser's, for the database `postgres`, password included. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly major: number;
  readonly binDir: string;
  readonly dataDir: string;
  /** Settles when the server has ended, for whatever reason; never rejects. */
  readonly exited: Promise<ProcessExit>;
  /**
   * Ends the server and waits for that: `fast` (the default) ends sessions and writes a checkpoint, `immediate` is a crash.
   * A server that does not obey is made to.
   */
  stop(options?: { readonly mode?: "fast" | "immediate" }): Promise<void>;
}

/**
 * Starts a PostgreSQL server on loopback, with a password of its own, and returns when it takes connections.
 *
 * The server cannot outlive this process: however that ends, SIGKILL included, a watchdog ends the server at once (as in
 * `immediate`) and removes its temporary folder. Data that were committed are kept, fsync being on unless `settings` say
 * otherwise. Works as root, where the server runs as `nobody`. A data folder is used by one server at a time; one that is
 * just being left by a server is waited for, and a stale lock file is no obstacle. 200 connections, UTC, UTF-8, text
 * sorted by code point, no Unix socket.
 *
 * Throws a {@link ServicesFault}: `binaries-missing`, `folder-closed`, `folder-in-use`, `other-major-version`,
 * `did-not-start` (with the end of the server's log).
 *
 * @example
 * await using postgres = await startPostgres({ settings: { fsync: "off" } });
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresService> {
  invariant(options.settings?.["synchronous_commit"] !== "off", "an acknowledged commit must survive a crash");
  const user = await serverUser();
  const { binDir, major } = await findPostgres(options.binDir, user);
  const dataFolder = await openFolder({ wanted: options.dataDir, server: "postgres", user });
  const { path: dataDir, temporary } = dataFolder;
  try {
    const sync = options.settings?.["fsync"] !== "off";
    const cluster = await openCluster(dataFolder, { binaries: { binDir, major }, user, sync });
    const { server, port } = await launchServer({
      name: `PostgreSQL on ${dataDir}`,
      port: options.port,
      command: (portToUse) => ({
        file: join(binDir, "postgres"),
        args: ["-D", cluster.folder, ...settingArguments(portToUse, options.settings)],
        folder: dataDir,
        temporary,
        environment: SERVER_ENVIRONMENT,
        onlyEnvironment: true,
        user,
        orphanSignal: "QUIT",
        log: options.log,
      }),
      isReady: ({ pid }) => isReady(cluster.folder, pid),
    });
    const stop: PostgresService["stop"] = async ({ mode = "fast" } = {}) => {
      await server.end(mode === "fast" ? ["SIGINT", "SIGQUIT", "SIGKILL"] : ["SIGQUIT", "SIGKILL"]);
      await dataFolder.release();
    };
    return {
      url: `postgres://${SUPERUSER}:${cluster.password}@${HOST}:${port}/postgres`,
      port,
      pid: server.pid,
      major,
      binDir,
      dataDir,
      exited: server.exited,
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await dataFolder.release();
    throw error;
  }
}

function settingArguments(port: number, settings: Readonly<Record<string, string>> = {}): readonly string[] {
  const all = {
    // Who works on it may know that it is not for keeps: Nightwriter refuses such a server otherwise.
    ...(settings["fsync"] === "off" && { "nightwriter.disposable": "on" }),
    max_connections: "200",
    timezone: "UTC",
    log_timezone: "UTC",
    ...settings,
    port: String(port),
    listen_addresses: HOST,
    unix_socket_directories: "",
    logging_collector: "off",
    log_destination: "stderr",
  };
  return Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}
