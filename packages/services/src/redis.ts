/** A Redis server of one's own, from `redis-server` or `valkey-server` on PATH. */

import { randomBytes } from "node:crypto";
import { invariant } from "@nightwriter/core";
import { findRedis, hintFor } from "./ensure-server.ts";
import { ServicesFault } from "./fault.ts";
import { type MovableClock, openMovableClock } from "./movable-clock.ts";
import { type ServerOptions, type ServerService, startOwnServer } from "./own-server.ts";
import { askRedis } from "./redis-question.ts";
import { HOST } from "./server-launch.ts";

/** Its data, its port, and more. */
export interface RedisOptions extends ServerOptions {
  /** Servers that fail over to each other have one. Letters and digits. Absent: a new one. */
  readonly password?: string;
  /** More arguments of the server's command line, such as `["--maxmemory", "100mb"]`; they win over what is set here. */
  readonly args?: readonly string[];
  /** The URL of the server to be a replica of. */
  readonly replicaOf?: string;
  /** Gives the server a clock of its own, for `moveClock`. Needs libfaketime, and Linux. Default: false. */
  readonly movableClock?: boolean;
}

/** A Redis server that takes commands, at the URL of its default user, password included. */
export interface RedisService extends ServerService {
  /**
   * SIGKILL. What was acknowledged before is in the append-only file, but for what a slow disk made the server put off: two
   * seconds of it at most, none with `["--appendfsync", "always"]`. Keeps a temporary folder until `stop`.
   */
  kill(): Promise<void>;
  /**
   * Asks the server one command, on a connection of its own, and returns its answer as text: for whoever steers servers
   * and is no client of theirs. Words are printable and without spaces. Throws a ServicesFault `no-answer`, also for an
   * error that the server answered.
   *
   * @example
   * await replica.ask("replicaof", "no", "one");
   */
  ask(...words: readonly string[]): Promise<string>;
  /** Makes the server's wall clock jump, ahead or back. Its monotonic clock goes on as ever. Needs `movableClock`. */
  moveClock(byMs: number): Promise<void>;
}

/** Asked more than once: while it writes its first append-only file, as each new replica does, Redis refuses to leave and forgets. */
const leaving = ["SIGTERM", "SIGTERM", "SIGTERM", "SIGTERM", "SIGKILL"] as const;

/**
 * Starts a Redis on loopback, with a password of its own, and returns when it takes commands.
 *
 * It keeps an append-only file (`appendfsync everysec`: a crash may lose the last seconds, see `kill`), and never evicts: a
 * queue must not forget. Like Postgres it cannot outlive this process, and runs as `nobody` if we are root. Throws a
 * {@link ServicesFault}: `binaries-missing`, `folder-closed`, `did-not-start`.
 *
 * @example
 * await using redis = await startRedis();
 */
export async function startRedis(options: RedisOptions = {}): Promise<RedisService> {
  const file = await findRedis();
  if (file === undefined) throw new ServicesFault("binaries-missing", hintFor("redis"));
  const password = options.password ?? randomBytes(16).toString("hex");
  let clock: MovableClock | undefined;
  const server = await startOwnServer({
    kind: "redis",
    name: "Redis",
    options,
    program: async (dir) => {
      if (options.movableClock === true) clock = await openMovableClock(dir);
      return {
        command: (port) => ({
          file,
          // The configuration goes in by standard input: arguments, with the password in them, are everybody's to read.
          args: ["-", ...(options.args ?? [])],
          input: configuration({ dir, port, password, replicaOf: options.replicaOf }),
          environment: { ...clock?.environment },
        }),
        isReady: ({ tail }) => tail().some((line) => line.includes("Ready to accept connections")),
        leave: async (running) => running.end(leaving, 3_000),
      };
    },
  });
  const { port } = server;
  return {
    ...server,
    url: `redis://default:${password}@${HOST}:${port}`,
    ask: (...words) => askRedis({ port, password }, words),
    moveClock: async (byMs) => {
      invariant(clock !== undefined, "redis: its clock can be moved only if it was started with movableClock");
      await clock.move(byMs);
    },
  };
}

interface Configuration {
  readonly dir: string;
  readonly port: number;
  readonly password: string;
  readonly replicaOf: string | undefined;
}

function configuration({ dir, port, password, replicaOf }: Configuration): string {
  const lines = [
    `bind ${HOST}`,
    `port ${port}`,
    `requirepass ${password}`,
    `dir ${JSON.stringify(dir)}`,
    "daemonize no",
    "appendonly yes",
    "appendfsync everysec",
    'save ""',
    "maxmemory-policy noeviction",
    "loglevel notice",
    // Redis waits 5 s for more replicas to come before it copies itself to the first.
    "repl-diskless-sync-delay 0",
  ];
  if (replicaOf !== undefined) {
    const primary = new URL(replicaOf);
    lines.push(`replicaof ${primary.hostname} ${primary.port || "6379"}`);
    if (primary.password !== "") lines.push(`masterauth ${decodeURIComponent(primary.password)}`);
  } else {
    // For the day when it is made the replica of one that has its password.
    lines.push(`masterauth ${password}`);
  }
  return `${lines.join("\n")}\n`;
}
