/** An etcd server of one's own, from `etcd` on PATH: a cluster of one. */

import { get } from "node:http";
import { findEtcd, hintFor } from "./ensure-server.ts";
import { ServicesFault } from "./fault.ts";
import type { ProcessExit } from "./guarded-process.ts";
import { openFolder } from "./server-folder.ts";
import { HOST, launchServer } from "./server-launch.ts";
import { SERVER_ENVIRONMENT, serverUser } from "./server-user.ts";

/** A cluster of one has no peers; what it would tell them must be an address all the same. */
const NO_PEER = "http://127.0.0.1:1";

/** Where a server's data are and how it runs; every field may be left out. */
export interface EtcdOptions {
  /** The folder whose data stay; made if missing. Absent: a temporary one, removed with the server. */
  readonly dir?: string;
  /** Absent: a free one. */
  readonly port?: number;
  /** More arguments of the server's command line, such as `["--election-timeout", "500"]`; they win over what is set here. */
  readonly args?: readonly string[];
  /** Gets each line of the server's log. */
  readonly log?: (line: string) => void;
}

/** An etcd server that takes requests. Disposal is `stop`. */
export interface EtcdService extends AsyncDisposable {
  /** `etcd://HOST:PORT`. It asks nobody for a password until somebody switches that on. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly dir: string;
  /** Settles when the server has ended, for whatever reason; never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** Ends the server in order. */
  stop(): Promise<void>;
  /** SIGKILL: what was acknowledged is in its log all the same. Keeps a temporary folder until `stop`. */
  kill(): Promise<void>;
}

/**
 * Starts an etcd on loopback and returns when it has elected itself and takes requests.
 *
 * Like the other servers it cannot outlive this process, and runs as `nobody` if we are root; unlike them it has no
 * password. Throws a {@link ServicesFault}: `binaries-missing`, `folder-closed`, `did-not-start`.
 *
 * @example
 * await using etcd = await startEtcd();
 */
export async function startEtcd(options: EtcdOptions = {}): Promise<EtcdService> {
  const file = await findEtcd();
  if (file === undefined) throw new ServicesFault("binaries-missing", hintFor("etcd"));
  const user = await serverUser();
  const folder = await openFolder({ wanted: options.dir, server: "etcd", user });
  const dir = folder.path;
  let asked = 0;
  const { server, port } = await launchServer({
    name: `etcd in ${dir}`,
    port: options.port,
    command: (portToUse) => {
      asked = portToUse;
      return {
        file,
        args: [...settings(`${dir}/etcd`, portToUse), ...(options.args ?? [])],
        folder: dir,
        temporary: folder.temporary,
        environment: SERVER_ENVIRONMENT,
        onlyEnvironment: true,
        user,
        orphanSignal: "KILL",
        log: options.log,
      };
    },
    isReady: async () => isHealthy(asked),
  }).catch(async (error: unknown) => {
    await folder.release();
    throw error;
  });
  const stop = async (): Promise<void> => {
    await server.end(["SIGTERM", "SIGKILL"]);
    await folder.release();
  };
  return {
    url: `etcd://${HOST}:${port}`,
    port,
    pid: server.pid,
    dir,
    exited: server.exited,
    stop,
    kill: () => server.end(["SIGKILL"]),
    [Symbol.asyncDispose]: stop,
  };
}

function settings(dataDir: string, port: number): string[] {
  const client = `http://${HOST}:${port}`;
  return [
    "--name=own",
    `--data-dir=${dataDir}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=http://${HOST}:0`,
    `--initial-advertise-peer-urls=${NO_PEER}`,
    `--initial-cluster=own=${NO_PEER}`,
    "--logger=zap",
    "--log-outputs=stderr",
  ];
}

/** Whether it has a leader, by its own word. */
async function isHealthy(port: number): Promise<boolean> {
  const request = get({ host: HOST, port, path: "/health", agent: false, signal: AbortSignal.timeout(1_000) });
  return new Promise((resolve) => {
    request.on("response", (response) => resolve(response.resume().statusCode === 200));
    request.on("error", () => resolve(false));
  });
}
