/** A ZooKeeper server of one's own, from Debian's jar and the `java` on PATH. */

import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { findZookeeper, hintFor } from "./ensure-server.ts";
import { ServicesFault } from "./fault.ts";
import { type ServerOptions, type ServerService, startOwnServer } from "./own-server.ts";
import { HOST } from "./server-launch.ts";

/** Runs alone where the settings name no other servers. */
const MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
/** Debian's jar has no logger; without one the server does not say why it fails. Comes with it. */
const LOGGER_JAR = "/usr/share/java/slf4j-simple.jar";
/** It reads files and nothing else; the port in one of them is known only when it starts. */
const TAKE_SETTINGS = 'cat >zoo.cfg && mkdir -p data && echo "$1" >data/myid && shift && exec "$@"';

/** Its data, its port, and more. */
export interface ZookeeperOptions extends ServerOptions {
  /** More settings of zoo.cfg, such as `{ tickTime: "200" }`; they win over what is set here. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Its number among the servers of an ensemble, which `settings` describe: `{ "server.1": "127.0.0.1:2888:3888", … }`. */
  readonly id?: number;
}

/** A ZooKeeper server that takes sessions, at `zookeeper://HOST:PORT`. It asks nobody for a password. */
export type ZookeeperService = ServerService;

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
  const java = [found.java, "-Xmx128m", "-XX:+UseSerialGC", "-cp", `${found.jar}:${LOGGER_JAR}`, MAIN, "./zoo.cfg"];
  const server = await startOwnServer({
    kind: "zookeeper",
    name: "ZooKeeper",
    options,
    program: (dir) => ({
      command: (port) => ({
        file: "/bin/sh",
        args: ["-c", TAKE_SETTINGS, "sh", String(options.id ?? 1), ...java],
        input: configuration({ dir, port, settings: options.settings }),
      }),
      isReady: async (_server, port) => isServing(port),
    }),
  });
  return { ...server, url: `zookeeper://${HOST}:${server.port}` };
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
