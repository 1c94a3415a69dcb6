/** The nodes of a Redis Cluster, asked in one pipeline each. */
import { once } from "node:events";
import type { Logger } from "@nightwriter/core";
import { LeaseFault } from "@nightwriter/lease";
import { Cluster, type Redis } from "ioredis";
import { askInTime, CONNECT_WITHIN_MS, connectWithin, inTime, patience, reconnectDelay } from "./ask-in-time.ts";
import { keySlot } from "./key-slot.ts";
import type { LeaseUrl } from "./lease-url.ts";
import { isReadOnly, isRedirection, leaseFault } from "./redis-fault.ts";
import { checkServer } from "./server-check.ts";
import { credentialsOf } from "./server-connection.ts";

export interface LeaseClusterOptions {
  readonly url: LeaseUrl;
  /** Twice as long no call takes. */
  readonly answerWithinMs: number;
  readonly applicationName: string;
  readonly logger: Logger;
}

/** A script's question about one key. */
export interface KeyQuestion {
  readonly key: string;
  readonly values: readonly (string | number)[];
}

export interface LeaseCluster {
  /** Resolves when every primary was reached and found fit. Throws LeaseFault. */
  connect(): Promise<void>;
  /** Evaluates the script once for each key; by key its answer, or the LeaseFault that kept it from us. Never throws. */
  evaluate(script: string, questions: readonly KeyQuestion[]): Promise<ReadonlyMap<string, unknown>>;
  close(): Promise<void>;
}

export function leaseCluster({ url, answerWithinMs, applicationName, logger }: LeaseClusterOptions): LeaseCluster {
  const { label } = url;
  const cluster = newCluster(url, answerWithinMs, applicationName);
  let lastError: unknown;
  const note = (error: unknown): void => {
    if (lastError === undefined) logger.warn({ err: error, store: label }, "lease store: a node is of no use now");
    lastError = error;
  };
  cluster.on("error", note);
  cluster.on("node error", note);
  // Each node is connected as soon as it is known, so that no question has to wait for that.
  cluster.on("+node", (node: Redis) => {
    node.on("ready", () => (lastError = undefined));
    node.connect().catch(note);
  });

  const primaryOf = (key: string): Redis | undefined => {
    const address = cluster.slots[keySlot(key)]?.[0];
    return cluster.nodes("master").find(({ options: { host, port } }) => `${host}:${port}` === address);
  };
  /** Follows the key to where it is now. The client does it, and learns the new place of its slot. */
  const follow = async (script: string, { key, values }: KeyQuestion): Promise<unknown> =>
    inTime(answerWithinMs, cluster.eval(script, 1, key, ...values)).catch((error: unknown) => error);

  const askPrimary = async (primary: Redis | undefined, script: string, share: readonly KeyQuestion[]) => {
    const answers = await pipelined(primary, answerWithinMs, { script, share }).catch((error: unknown) =>
      share.map(() => error),
    );
    // Perhaps somebody else has taken its slots over.
    if (answers.some((answer) => answer instanceof Error)) cluster.refreshSlotsCache();
    return Promise.all(
      share.map(async (question, index): Promise<[string, unknown]> => {
        const answer = isRedirection(answers[index]) ? await follow(script, question) : answers[index];
        return [question.key, answer instanceof Error ? leaseFault(answer, label) : answer];
      }),
    );
  };
  return {
    connect: async () =>
      connectAll(cluster, label, logger).catch((error: unknown) => {
        throw error instanceof LeaseFault ? error : leaseFault(lastError ?? error, label);
      }),
    evaluate: async (script, questions) => {
      const shares = [...Map.groupBy(questions, ({ key }) => primaryOf(key))];
      const answered = shares.map(async ([primary, share]) => askPrimary(primary, script, share));
      return new Map((await Promise.all(answered)).flat());
    },
    close: async () => disconnect(cluster, answerWithinMs),
  };
}

function newCluster(url: LeaseUrl, answerWithinMs: number, applicationName: string): Cluster {
  return new Cluster([...url.addresses], {
    lazyConnect: true,
    enableOfflineQueue: false,
    redisOptions: {
      ...credentialsOf(url),
      ...patience(answerWithinMs),
      connectionName: applicationName,
      reconnectOnError: isReadOnly,
    },
    clusterRetryStrategy: reconnectDelay(answerWithinMs),
    clusterNodeRetryStrategy: reconnectDelay(answerWithinMs),
    slotsRefreshTimeout: connectWithin(answerWithinMs),
    // It would refuse a node that is just being connected. A cluster that is not whole says so to each question.
    enableReadyCheck: false,
    // A question is sent again only to where the cluster says that the key is.
    maxRedirections: 3,
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    retryDelayOnTryAgain: 0,
  });
}

async function connectAll(cluster: Cluster, label: string, logger: Logger): Promise<void> {
  await inTime(CONNECT_WITHIN_MS, cluster.connect());
  const infos = cluster.nodes("master").map(async (node) => {
    // An answer is no sign of that: `info` is sent while the client still finds out whether the node is ready.
    if (node.status !== "ready") await inTime(CONNECT_WITHIN_MS, once(node, "ready"));
    return inTime(CONNECT_WITHIN_MS, node.info());
  });
  for (const info of await Promise.all(infos)) checkServer(info, label, logger);
}

async function disconnect(cluster: Cluster, patienceMs: number): Promise<void> {
  if (cluster.status === "end") return;
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  cluster.once("end", resolve);
  cluster.disconnect();
  // It never ends where all that is left of it are nodes that wait for their next try to connect.
  await inTime(patienceMs, ended).catch(() => undefined);
}

interface Share {
  readonly script: string;
  readonly share: readonly KeyQuestion[];
}

/** One round trip: for each question the answer, or the error that the node answered. */
async function pipelined(
  primary: Redis | undefined,
  ms: number,
  { script, share }: Share,
): Promise<readonly unknown[]> {
  if (primary === undefined) throw new Error("no node is known to have the key");
  return askInTime(primary, ms, async (ready) => {
    const pipeline = ready.pipeline();
    for (const { key, values } of share) pipeline.eval(script, 1, key, ...values);
    return ((await pipeline.exec()) ?? []).map(([error, answer]) => error ?? answer);
  });
}
