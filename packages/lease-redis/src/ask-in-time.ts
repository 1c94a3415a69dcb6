/** Questions to Redis that are answered or given up in time. */
import { TLSSocket } from "node:tls";
import type { Redis } from "ioredis";

/** Sentinels and nodes are tried in turn for ever: whoever starts wants to know after a while. */
export const CONNECT_WITHIN_MS = 5_000;

/** How a client is made whose questions are asked here. Nothing waits for a connection, and nothing is sent twice. */
export interface Patience {
  readonly enableOfflineQueue: false;
  readonly autoResendUnfulfilledCommands: false;
  readonly maxRetriesPerRequest: 0;
  readonly connectTimeout: number;
  readonly commandTimeout: number;
  readonly maxLoadingRetryTime: number;
  readonly disconnectTimeout: number;
}

export function patience(answerWithinMs: number): Patience {
  return {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: connectWithin(answerWithinMs),
    // A question's own end comes sooner, and ends the connection too. This is for what the client asks while it connects.
    commandTimeout: connectWithin(answerWithinMs),
    maxLoadingRetryTime: answerWithinMs,
    // After that a socket that the other side does not close is closed by us.
    disconnectTimeout: Math.min(answerWithinMs, 200),
  };
}

/** No question waits for a connection, so making one need not be as quick as an answer: a short lease is no reason to give up. */
export function connectWithin(answerWithinMs: number): number {
  return Math.max(2 * answerWithinMs, 1_000);
}

/** How long to wait before the next try to connect: soon, and not all processes at once. */
export function reconnectDelay(answerWithinMs: number): (tries: number) => number {
  return (tries) => Math.min(2 ** Math.min(tries, 6) * 10, answerWithinMs / 2) * (0.5 + Math.random() / 2);
}

/**
 * Settles as the work does, or throws after `ms`, and then says so to `onLate`. The work itself goes on. Where this process was
 * held up, answers that have come meanwhile are read before anything is late: timers are run first, then sockets, then immediates.
 */
export async function inTime<Result>(ms: number, work: Promise<Result>, onLate?: () => void): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  let verdict: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    verdict = setImmediate(() => {
      onLate?.();
      reject(new Error(`no answer within ${ms} ms`));
    });
  }, ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    clearImmediate(verdict);
  }
}

/**
 * Resolves with the answer or throws, within `ms`. Where none came in time the connection is not worth keeping: it is
 * reset, so that what the kernel still holds of the question is not delivered when the network is back.
 */
export async function askInTime<Answer>(
  client: Redis,
  ms: number,
  question: (client: Redis) => Promise<Answer>,
): Promise<Answer> {
  if (client.status !== "ready" || !client.stream.writable) throw new Error("not connected");
  return inTime(ms, question(client), () => resetConnection(client));
}

/** Ends the connection at once. Over TLS the kernel may still deliver what it has: Node resets plain sockets only. */
function resetConnection({ stream }: Redis): void {
  if (stream instanceof TLSSocket) stream.destroy();
  else stream.resetAndDestroy();
}
