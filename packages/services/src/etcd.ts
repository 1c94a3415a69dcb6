/** An etcd server of one's own, from `etcd` on PATH: a cluster of one. */

import { get } from "node:http";
import { findEtcd, hintFor } from "./ensure-server.ts";
import { ServicesFault } from "./fault.ts";
import { type ServerOptions, type ServerService, startOwnServer } from "./own-server.ts";
import { HOST } from "./server-launch.ts";

/** A cluster of one has no peers; what it would tell them must be an address all the same. */
const NO_PEER = "http://127.0.0.1:1";

/** Its data, its port, and more. */
export interface EtcdOptions extends ServerOptions {
  /** More arguments of the server's command line, such as `["--election-timeout", "500"]`; they win over what is set here. */
  readonly args?: readonly string[];
}

/** An etcd server that takes requests, at `etcd://HOST:PORT`. It asks nobody for a password until somebody switches that on. */
export type EtcdService = ServerService;

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
  const server = await startOwnServer({
    kind: "etcd",
    name: "etcd",
    options,
    program: (dir) => ({
      command: (port) => ({ file, args: [...settings(`${dir}/etcd`, port), ...(options.args ?? [])] }),
      isReady: async (_server, port) => isHealthy(port),
    }),
  });
  return { ...server, url: `etcd://${HOST}:${server.port}` };
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
