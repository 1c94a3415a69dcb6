/**
 * Sentinels of one's own: the processes that watch a Redis and its replicas, agree that it is gone, and make a replica the
 * primary. They are the program `redis-server` in another role.
 */

import { randomBytes } from "node:crypto";
import { chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { findRedis, hintFor } from "./ensure-server.ts";
import { ServicesFault } from "./fault.ts";
import type { GuardedProcess } from "./guarded-process.ts";
import { askRedis } from "./redis-question.ts";
import { openFolder } from "./server-folder.ts";
import { HOST, launchServer } from "./server-launch.ts";
import { SERVER_ENVIRONMENT, serverUser } from "./server-user.ts";

const KNOWN_WITHIN_MS = 60_000;
const POLL_MS = 50;

/** Whom they watch. */
export interface SentinelsOptions {
  /** The URL of the primary as it is now, password included. Its replicas have the same password, and are found by themselves. */
  readonly primaryUrl: string;
  /** How many replicas are waited for. Default: 1. */
  readonly replicas?: number;
  /** What the sentinels call the primary. Default: `primary`. */
  readonly name?: string;
  /** How many there are; a majority must agree. Default: 3. */
  readonly count?: number;
  /** A primary that has not answered for so long is gone. Default: 1,000. */
  readonly downAfterMs?: number;
  /** Gets each line of each sentinel's log. */
  readonly log?: (line: string) => void;
}

/** Sentinels that know each other, the primary and its replicas. Disposal is `stop`. */
export interface SentinelsService extends AsyncDisposable {
  /** `redis+sentinel://user:password@host:port,…/NAME?sentinelPassword=…`. */
  readonly url: string;
  readonly pids: readonly number[];
  /** The port of the server that a sentinel last told to be the primary. */
  primaryPort(): number;
  stop(): Promise<void>;
}

/**
 * Starts sentinels on loopback, with a password of their own, and returns when each knows all others, the primary and
 * its replicas: from then on they can fail over. They cannot outlive this process. Throws a {@link ServicesFault}.
 *
 * @example
 * await using primary = await startRedis();
 * await using replica = await startRedis({ replicaOf: primary.url, password: passwordOf(primary) });
 * await using sentinels = await startSentinels({ primaryUrl: primary.url });
 */
export async function startSentinels(options: SentinelsOptions): Promise<SentinelsService> {
  const { primaryUrl, name = "primary", count = 3, replicas = 1 } = options;
  const password = randomBytes(16).toString("hex");
  let primaryPort = Number(new URL(primaryUrl).port || "6379");
  const onFailover = (port: number): void => void (primaryPort = port);
  const running = new AsyncDisposableStack();
  try {
    const sentinels: Sentinel[] = [];
    for (let index = 0; index < count; index++) {
      const sentinel = await startSentinel({ ...options, name, count, password, onFailover });
      running.defer(sentinel.stop);
      sentinels.push(sentinel);
    }
    await untilKnown(sentinels, { sentinels: count - 1, replicas });
    const ports = sentinels.map(({ port }) => port);
    const stop = async (): Promise<void> => running.disposeAsync();
    return {
      url: urlOf(primaryUrl, { ports, name, password }),
      pids: sentinels.map(({ server }) => server.pid),
      primaryPort: () => primaryPort,
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await running.disposeAsync();
    throw error;
  }
}

interface Sentinel {
  readonly server: GuardedProcess;
  readonly port: number;
  /** What it has found: `sentinel …` and `slave …` as its log names them. */
  readonly found: ReadonlySet<string>;
  readonly stop: () => Promise<void>;
}

interface SentinelSettings extends SentinelsOptions {
  readonly name: string;
  readonly count: number;
  readonly password: string;
  readonly onFailover: (port: number) => void;
}

async function startSentinel(settings: SentinelSettings): Promise<Sentinel> {
  const file = await findRedis();
  if (file === undefined) throw new ServicesFault("binaries-missing", hintFor("redis"));
  const user = await serverUser();
  const folder = await openFolder({ wanted: undefined, server: "redis", user });
  const found = new Set<string>();
  try {
    // Sentinels write what they learn into their configuration, so it is a file, and theirs.
    const configurationFile = join(folder.path, "sentinel.conf");
    await writeFile(configurationFile, configuration(settings, folder.path), { mode: 0o600 });
    if (user !== undefined) await chown(configurationFile, user.uid, user.gid);
    const { server, port } = await launchServer({
      name: `Sentinel in ${folder.path}`,
      port: undefined,
      command: (portToUse) => ({
        file,
        args: [configurationFile, "--sentinel", "--port", String(portToUse)],
        folder: folder.path,
        temporary: true,
        environment: SERVER_ENVIRONMENT,
        onlyEnvironment: true,
        user,
        log: (line) => {
          const [, discovery] = / \+((?:sentinel|slave) \S+ \S+) /.exec(line) ?? [];
          if (discovery !== undefined) found.add(discovery);
          const [, port] = / \+switch-master \S+ \S+ \d+ \S+ (\d+)$/.exec(line) ?? [];
          if (port !== undefined) settings.onFailover(Number(port));
          settings.log?.(line);
        },
      }),
      isReady: ({ tail }) => tail().some((line) => line.includes("+monitor")),
    });
    // By default one that was held up for 2 s mistrusts its clock and does nothing for 30 s. Redis before 7 cannot be told.
    await askRedis({ port, password: settings.password }, ["sentinel", "debug", "tilt-trigger", "600000"]).catch(
      () => undefined,
    );
    const stop = async (): Promise<void> => {
      await server.end(["SIGTERM", "SIGKILL"]);
      await folder.release();
    };
    return { server, port, found, stop };
  } catch (error) {
    await folder.release();
    throw error;
  }
}

function configuration(
  { primaryUrl, name, count, password, downAfterMs = 1_000 }: SentinelSettings,
  dir: string,
): string {
  const primary = new URL(primaryUrl);
  const quorum = Math.floor(count / 2) + 1;
  const lines = [
    `bind ${HOST}`,
    `dir ${JSON.stringify(dir)}`,
    `requirepass ${password}`,
    `sentinel sentinel-pass ${password}`,
    `sentinel monitor ${name} ${primary.hostname} ${primary.port || "6379"} ${quorum}`,
    `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
    // A failover that did not succeed is tried again after twice as long.
    `sentinel failover-timeout ${name} ${Math.max(5_000, 5 * downAfterMs)}`,
  ];
  if (primary.password !== "") lines.push(`sentinel auth-pass ${name} ${decodeURIComponent(primary.password)}`);
  return `${lines.join("\n")}\n`;
}

async function untilKnown(
  sentinels: readonly Sentinel[],
  expected: { readonly sentinels: number; readonly replicas: number },
): Promise<void> {
  const deadline = performance.now() + KNOWN_WITHIN_MS;
  const counts = ({ found }: Sentinel, kind: string): number =>
    [...found].filter((each) => each.startsWith(kind)).length;
  const isInformed = (sentinel: Sentinel): boolean =>
    counts(sentinel, "sentinel ") >= expected.sentinels && counts(sentinel, "slave ") >= expected.replicas;
  while (!sentinels.every(isInformed)) {
    const ended = sentinels.find(({ server }) => server.exit() !== undefined);
    if (ended !== undefined || performance.now() > deadline) {
      const tails = sentinels.map(({ port, server }) => `${port}: ${server.tail().join("\n")}`).join("\n");
      throw new ServicesFault("did-not-start", `sentinels: they did not find each other, or a replica; ${tails}`);
    }
    await setTimeout(POLL_MS);
  }
}

function urlOf(
  primaryUrl: string,
  { ports, name, password }: { readonly ports: readonly number[]; readonly name: string; readonly password: string },
): string {
  const primary = new URL(primaryUrl);
  const credentials = primary.password === "" ? "" : `${primary.username}:${primary.password}@`;
  const hosts = ports.map((port) => `${HOST}:${port}`).join(",");
  return `redis+sentinel://${credentials}${hosts}/${name}?sentinelPassword=${password}`;
}
