/** From a command to a server that is ready, on a port of its own. */

import { setTimeout } from "node:timers/promises";
import getPort from "get-port";
import { ServicesFault } from "./fault.ts";
import { type GuardedCommand, type GuardedProcess, startGuarded } from "./guarded-process.ts";

/** Loopback only: a server started here is never reachable from another machine. */
export const HOST = "127.0.0.1";

const READY_WITHIN_MS = 60_000;
const POLL_MS = 20;
const PORT_TRIES = 5;

export interface Launch {
  /** For messages: `PostgreSQL on /data`. */
  readonly name: string;
  /** The port to use and no other; undefined for a free one. */
  readonly port: number | undefined;
  readonly command: (port: number) => GuardedCommand;
  /** Whether the server takes connections. Asked again and again: neither server signals it other than by a file or a line. */
  readonly isReady: (server: GuardedProcess, port: number) => boolean | Promise<boolean>;
}

export interface Launched {
  readonly server: GuardedProcess;
  readonly port: number;
}

/**
 * Starts the server and returns when it is ready. Another process may take a free port between our look at it and the
 * server's own bind, and neither server can be handed a bound socket; so a race for it that was lost is run again with
 * another port. Fault `did-not-start`, with the end of the server's log.
 */
export async function launchServer(launch: Launch): Promise<Launched> {
  for (let attempt = 1; ; attempt++) {
    const port = launch.port ?? (await getPort({ host: HOST }));
    const server = await startGuarded(launch.command(port));
    await untilReady(server, () => launch.isReady(server, port));
    if (server.exit() === undefined) return { server, port };
    await server.closed;
    const isPortTaken = server.tail().some((line) => /address already in use/i.test(line));
    if (isPortTaken && launch.port === undefined && attempt < PORT_TRIES) continue;
    throw new ServicesFault(
      "did-not-start",
      `${launch.name}: did not start on port ${port}; ${server.tail().join("\n")}`,
      {
        details: { port },
      },
    );
  }
}

/** Returns when the server is ready or has ended; ends one that takes too long. */
async function untilReady(server: GuardedProcess, isReady: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (server.exit() === undefined && !(await isReady())) {
    if (performance.now() > deadline) await server.end(["SIGKILL"]);
    await Promise.race([server.exited, setTimeout(POLL_MS)]);
  }
}
