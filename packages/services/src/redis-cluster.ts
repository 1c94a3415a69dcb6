/** A Redis Cluster of one's own: primaries that share the slots, and their replicas. Needs Redis 7. */

import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import getPort from "get-port";
import { ServicesFault } from "./fault.ts";
import { type RedisService, startRedis } from "./redis.ts";
import { HOST } from "./server-launch.ts";

const SLOTS = 16_384;
const JOINED_WITHIN_MS = 60_000;
const POLL_MS = 50;

/** How large it is; every field may be left out. */
export interface RedisClusterOptions {
  /** Default: 3, the fewest of which a majority is left when one is gone. */
  readonly primaries?: number;
  /** Replicas of each primary. Default: 0: what a primary has is away while that is. */
  readonly replicas?: number;
  /** A node that has not answered for so long is gone, and its replica takes over. Default: 2,000. */
  readonly nodeTimeoutMs?: number;
  /** Gets each line of each node's log. */
  readonly log?: (line: string) => void;
}

/** A cluster that takes commands for every slot. Disposal is `stop`. */
export interface RedisClusterService extends AsyncDisposable {
  /** `redis+cluster://user:password@host:port,…`, with every node in it. */
  readonly url: string;
  /** In order of their slots. */
  readonly primaries: readonly RedisService[];
  /** The replicas of the first primary, then those of the second… */
  readonly replicas: readonly RedisService[];
  stop(): Promise<void>;
}

/**
 * Starts the nodes on loopback, all with one password, gives each primary an equal share of the slots, and returns when every
 * node says that the cluster is whole. Like every server here they cannot outlive this process. Throws a {@link ServicesFault}.
 *
 * @example
 * await using cluster = await startRedisCluster({ replicas: 1 });
 */
export async function startRedisCluster(options: RedisClusterOptions = {}): Promise<RedisClusterService> {
  const { primaries: count = 3, replicas: replicasEach = 0 } = options;
  const password = randomBytes(16).toString("hex");
  const running = new AsyncDisposableStack();
  try {
    const nodes: Node[] = [];
    for (let index = 0; index < count * (1 + replicasEach); index++) {
      const node = await startNode(options, password);
      running.use(node.redis);
      nodes.push(node);
    }
    await join(nodes, count);
    const servers = nodes.map(({ redis }) => redis);
    const stop = async (): Promise<void> => running.disposeAsync();
    return {
      url: `redis+cluster://default:${password}@${servers.map(({ port }) => `${HOST}:${port}`).join(",")}`,
      primaries: servers.slice(0, count),
      replicas: servers.slice(count),
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await running.disposeAsync();
    throw error;
  }
}

interface Node {
  readonly redis: RedisService;
  /** Where nodes speak to each other. By default 10,000 above the other port, where a free port may have none. */
  readonly busPort: number;
}

async function startNode({ nodeTimeoutMs = 2_000, log }: RedisClusterOptions, password: string): Promise<Node> {
  const busPort = await getPort({ host: HOST });
  const settings = { "cluster-enabled": "yes", "cluster-node-timeout": nodeTimeoutMs, "cluster-port": busPort };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return { redis: await startRedis({ password, args, ...(log !== undefined && { log }) }), busPort };
}

async function join(nodes: readonly Node[], primaries: number): Promise<void> {
  for (const [index, { redis }] of nodes.entries()) {
    // Each its own, as at the end of elections: equal ones would have to be sorted out first.
    await redis.ask("cluster", "set-config-epoch", String(index + 1));
    if (index < primaries) await redis.ask("cluster", "addslotsrange", ...shareOf(index, primaries));
  }
  for (const { redis } of nodes.slice(1)) {
    const [first] = nodes;
    if (first !== undefined) await redis.ask("cluster", "meet", HOST, String(first.redis.port), String(first.busPort));
  }
  await until(nodes, async ({ redis }) => {
    const info = await redis.ask("cluster", "info");
    return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${nodes.length}`);
  });
  const replicasEach = nodes.length / primaries - 1;
  for (const [index, { redis }] of nodes.slice(primaries).entries()) {
    const primary = nodes[Math.floor(index / replicasEach)];
    if (primary !== undefined) await redis.ask("cluster", "replicate", await primary.redis.ask("cluster", "myid"));
  }
  await until(nodes.slice(primaries), async ({ redis }) =>
    (await redis.ask("info", "replication")).includes("master_link_status:up"),
  );
}

function shareOf(index: number, primaries: number): readonly [string, string] {
  const start = (share: number): number => Math.floor((share * SLOTS) / primaries);
  return [String(start(index)), String(start(index + 1) - 1)];
}

async function until(nodes: readonly Node[], isSo: (node: Node) => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + JOINED_WITHIN_MS;
  for (const node of nodes) {
    while (!(await isSo(node))) {
      if (performance.now() > deadline) {
        throw new ServicesFault("did-not-start", `cluster: node on port ${node.redis.port} did not join it`, {
          details: { port: node.redis.port },
        });
      }
      await setTimeout(POLL_MS);
    }
  }
}
