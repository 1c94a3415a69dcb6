/** A ZooKeeper server of one's own, from Debian's jar and the `java` on PATH. */

import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { findZookeeper, hintFor } from "./ensure-server.ts";
import { ServicesFault } from "./fault.ts";
import type { ProcessExit } from "./guarded-process.ts";
import { openFolder } from "./server-folder.ts";
import { HOST, launchServer } from "./server-launch.ts";
import { SERVER_ENVIRONMENT, serverUser } from "./server-user.ts";

/** Runs alone where the settings name no other servers. */
const MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
/** Debian's jar has no logger; without one the server does not say why it fails. Comes with it. */
const LOGGER_JAR = "/usr/share/java/slf4j-simple.jar";
/** It reads files and nothing else; the port in one of them is known only when it starts. */
const TAKE_SETTINGS = 'cat >zoo.cfg && mkdir -p data && echo "$1" >data/myid && shift && exec "$@"';

/** Where a server's data are and how it runs; every field may be left out. */
export interface ZookeeperOptions {
  /** The folder whose data stay; made if missing. Absent: a temporary one, removed with the server. */
  readonly dir?: string;
  /** Absent: a free one. */
  readonly port?: number;
  /** More settings of zoo.cfg, such as `{ tickTime: "200" }`; they win over what is set here. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Its number among the servers of an ensemble, which `settings` describe: `{ "server.1": "127.0.0.1:2888:3888", … }`. */
  readonly id?: number;
  /** Gets each line of the server's log. */
  readonly log?: (line: string) => void;
}

/** A ZooKeeper server that takes sessions. Disposal is `stop`. */
export interface ZookeeperService extends AsyncDisposable {
  /** `zookeeper://HOST:PORT`. It asks nobody for a password. */
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
 * Starts a ZooKeeper on loopback and returns when it serves: alone unless `settings` name other servers, with a majority
 * of them otherwise.
 *
 * Like the other servers it cannot outlive this process, and runs as `nobody` if we are root; unlike them it has no
 * password. Throws a {@link ServicesFault}: `binaries-missing`, `folder-closed`, `did-not-start`.
 *
 * @example
 * await using zookeeper = await startZookeeper();
 */
export async function startZookeeper(options: ZookeeperOptions = {}): Promise<ZookeeperService> {
  const found = await findZookeeper();
  if (found === undefined) throw new ServicesFault("binaries-missing", hintFor("zookeeper"));
  const user = await serverUser();
  const folder = await openFolder({ wanted: options.dir, server: "zookeeper", user });
  const dir = folder.path;
  const java = [found.java, "-Xmx128m", "-XX:+UseSerialGC", "-cp", `${found.jar}:${LOGGER_JAR}`, MAIN, "./zoo.cfg"];
  let asked = 0;
  const { server, port } = await launchServer({
    name: `ZooKeeper in ${dir}`,
    port: options.port,
    command: (portToUse) => {
      asked = portToUse;
      return {
        file: "/bin/sh",
        args: ["-c", TAKE_SETTINGS, "sh", String(options.id ?? 1), ...java],
        input: configuration({ dir, port: portToUse, settings: options.settings }),
        folder: dir,
        temporary: folder.temporary,
        environment: SERVER_ENVIRONMENT,
        onlyEnvironment: true,
        user,
        orphanSignal: "KILL",
        log: options.log,
      };
    },
    isReady: async () => isServing(asked),
  }).catch(async (error: unknown) => {
    await folder.release();
    throw error;
  });
  const stop = async (): Promise<void> => {
    await server.end(["SIGTERM", "SIGKILL"]);
    await folder.release();
  };
  return {
    url: `zookeeper://${HOST}:${port}`,
    port,
    pid: server.pid,
    dir,
    exited: server.exited,
    stop,
    kill: () => server.end(["SIGKILL"]),
    [Symbol.asyncDispose]: stop,
  };
}

interface Configuration {
  readonly dir: string;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>> | undefined;
}

function configuration({ dir, port, settings }: Configuration): string {
  const all = {
    dataDir: `${dir}/data`,
    clientPort: String(port),
    clientPortAddress: HOST,
    tickTime: "2000",
    // It would listen on 8080, on all addresses.
    "admin.enableServer": "false",
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}=${value}\n`);
  return lines.join("");
}

/** Whether it serves, by its own word. */
async function isServing(port: number): Promise<boolean> {
  const socket = connect(port, HOST).setTimeout(1_000, () => socket.destroy());
  socket.write("srvr");
  return text(socket).then(
    (answer) => answer.includes("Mode: "),
    () => false,
  );
}
