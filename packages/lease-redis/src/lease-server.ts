/**
 * The leases of one Redis server: one connection, one command for each call, an answer in bounded time.
 *
 * A call that was given up must not take effect much later. So nothing is queued while there is no connection, nothing is
 * sent again after one was lost, and a connection that did not answer in time is reset, with all that the kernel has not
 * yet delivered. What is left: a command that had reached a server which was then frozen may still take a lease for
 * somebody who no longer wants it. Nobody trusts that lease; it runs out after one length.
 */
import type { Logger } from "@nightwriter/core";
import type { LeaseClaim, LeaseFault, LeaseSight } from "@nightwriter/lease";
import { Redis, type RedisOptions } from "ioredis";
import { askInTime, CONNECT_WITHIN_MS, inTime, patience, reconnectDelay } from "./ask-in-time.ts";
import { claimKey, claimText, leaseKey, leaseSight, leaseValue, reclaimValues } from "./lease-key.ts";
import { CLAIM, DROP, EXTEND, LOOK, RECLAIM, TAKE } from "./lease-scripts.ts";
import { isReadOnly, leaseFault } from "./redis-fault.ts";
import { checkServer } from "./server-check.ts";

/** How one server is asked. */
export interface LeaseServerOptions {
  /** The server for messages, without password. */
  readonly label: string;
  readonly prefix: string;
  /** How long a key lives after it was taken or extended. */
  readonly keyMs: number;
  /** No call takes longer. */
  readonly answerWithinMs: number;
  readonly applicationName: string;
  readonly logger: Logger;
  /** Where the server is, and as whom. */
  readonly connection: Omit<RedisOptions, "replyMapping">;
}

/** One server's part in leases. Each method answers in time or throws LeaseFault, and may then have had its effect. */
export interface LeaseServer {
  readonly label: string;
  /** Resolves when the server was reached and found fit. Where it throws, tries to connect go on until `close`. */
  connect(): Promise<void>;
  /** Whether the lease is the claim's now, for the whole length. */
  take(claim: LeaseClaim): Promise<boolean>;
  /** For each claim, whether it was the claim's and is again for the whole length. */
  extend(claims: readonly LeaseClaim[]): Promise<readonly boolean[]>;
  /** Deletes each lease that is the claim's. */
  drop(claims: readonly LeaseClaim[]): Promise<void>;
  /** For each name, who has it. */
  look(names: readonly string[]): Promise<readonly (LeaseSight | undefined)[]>;
  /** The claim that stands there. */
  readClaim(): Promise<string | undefined>;
  /** Puts the claim there if exactly `before` stands there; what stands there afterwards. */
  replaceClaim(before: string | undefined, text: string): Promise<string | undefined>;
  close(): Promise<void>;
}

export function leaseServer(options: LeaseServerOptions): LeaseServer {
  const { label, prefix, keyMs, answerWithinMs } = options;
  const { client, connect, close, fault } = watchedClient(options);
  const keyOf = (name: string): string => leaseKey(prefix, name);

  const evaluateKeys = async (script: string, keys: readonly string[], values: readonly (string | number)[]) => {
    const known = fault();
    if (known !== undefined) throw known;
    try {
      return await askInTime(client, answerWithinMs, (ready) => ready.eval(script, keys.length, ...keys, ...values));
    } catch (error) {
      throw leaseFault(error, label);
    }
  };
  const evaluate = async (script: string, names: readonly string[], values: readonly (string | number)[] = []) =>
    evaluateKeys(script, names.map(keyOf), values);
  const evaluateEach = async (...asked: Parameters<typeof evaluate>): Promise<readonly unknown[]> => {
    const answer = asked[1].length === 0 ? [] : await evaluate(...asked);
    return Array.isArray(answer) ? answer : [];
  };
  return {
    label,
    connect,
    take: async (claim) => (await evaluate(TAKE, [claim.name], [keyMs, leaseValue(claim)])) === 1,
    extend: async (claims) =>
      (await evaluateEach(EXTEND, namesOf(claims), [keyMs, ...claims.map(leaseValue)])).map((answer) => answer === 1),
    drop: async (claims) => void (await evaluateEach(DROP, namesOf(claims), claims.map(leaseValue))),
    look: async (names) => (await evaluateEach(LOOK, names)).map(leaseSight),
    readClaim: async () => claimText(await evaluateKeys(CLAIM, [claimKey(prefix)], [])),
    replaceClaim: async (before, text) =>
      claimText(await evaluateKeys(RECLAIM, [claimKey(prefix)], reclaimValues(before, text))),
    close,
  };
}

function namesOf(claims: readonly LeaseClaim[]): readonly string[] {
  return claims.map(({ name }) => name);
}

interface WatchedClient {
  readonly client: Redis;
  readonly connect: () => Promise<void>;
  readonly close: () => Promise<void>;
  /** Why it is of no use now, as far as that is known: what is wrong with the connection, or with the server. */
  readonly fault: () => LeaseFault | undefined;
}

/**
 * A client whose server is inspected whenever it has connected anew, since behind the address may be another one by then,
 * and at every call as long as it is found unfit: a replica may have been promoted.
 */
function watchedClient(options: LeaseServerOptions): WatchedClient {
  const { label, answerWithinMs, applicationName, logger, connection } = options;
  let fault: LeaseFault | undefined;
  let inspection: Promise<void> | undefined;
  const client = new Redis({
    ...connection,
    ...patience(answerWithinMs),
    lazyConnect: true,
    connectionName: applicationName,
    retryStrategy: reconnectDelay(answerWithinMs),
    // After a failover the old primary answers as a replica: connect anew, the address may lead to the new one by now.
    reconnectOnError: isReadOnly,
  });
  const note = (error: unknown): void => {
    const next = leaseFault(error, label);
    if (next.message !== fault?.message) logger.warn({ err: next, store: label }, "lease store: of no use now");
    fault = next;
  };
  const inspect = async (): Promise<void> => {
    try {
      checkServer(await askInTime(client, answerWithinMs, (ready) => ready.info()), label, logger);
      fault = undefined;
    } catch (error) {
      note(error);
    } finally {
      inspection = undefined;
    }
  };
  client.on("error", note);
  // The client ends for good when sentinels tell of a failover while it asks another sentinel for the primary.
  let revival: NodeJS.Timeout | undefined;
  const revive = (): void => {
    revival = setTimeout(() => void client.connect().catch(note), answerWithinMs / 10);
  };
  client.on("end", revive);
  client.on("ready", () => void (inspection ??= inspect()));
  return {
    client,
    connect: async () => {
      // The client's own events have told why, if they did: here it is only that there is no connection.
      await inTime(CONNECT_WITHIN_MS, client.connect()).catch((error: unknown) => fault ?? note(error));
      await inspection;
      if (fault !== undefined) throw fault;
    },
    close: async () => {
      client.off("end", revive);
      clearTimeout(revival);
      await disconnect(client);
    },
    fault: () => {
      if (fault !== undefined && client.status === "ready") inspection ??= inspect();
      return fault;
    },
  };
}

async function disconnect(client: Redis): Promise<void> {
  if (client.status === "end") return;
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  client.once("end", resolve);
  client.disconnect();
  // A client that waits for its next try to connect drops it and tells nobody.
  if (client.status !== "reconnecting") await ended;
}
