/** A question to one Redis, answered or given up in time. */
import { TLSSocket } from "node:tls";
import type { Redis } from "ioredis";

/** How a client is made whose questions are asked here. Nothing waits for a connection, and nothing is sent twice. */
export interface Patience {
  readonly enableOfflineQueue: false;
  readonly autoResendUnfulfilledCommands: false;
  readonly maxRetriesPerRequest: 0;
  readonly connectTimeout: number;
  /** For the client's own commands while it connects. */
  readonly commandTimeout: number;
  readonly maxLoadingRetryTime: number;
  readonly disconnectTimeout: number;
}

export function patience(answerWithinMs: number): Patience {
  return {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: answerWithinMs,
    commandTimeout: answerWithinMs,
    maxLoadingRetryTime: answerWithinMs,
    // After that a socket that the other side does not close is closed by us.
    disconnectTimeout: Math.min(answerWithinMs, 1_000),
  };
}

/** How long to wait before the next try to connect: soon, and not all processes at once. */
export function reconnectDelay(answerWithinMs: number): (tries: number) => number {
  return (tries) => Math.min(2 ** Math.min(tries, 6) * 10, answerWithinMs / 2) * (0.5 + Math.random() / 2);
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
  if (client.status !== "ready" || client.stream.destroyed) throw new Error("not connected");
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    resetConnection(client);
    reject(new Error(`no answer within ${ms} ms`));
  }, ms);
  try {
    return await Promise.race([question(client), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Ends the connection at once. Over TLS the kernel may still deliver what it has; Node resets plain sockets only. */
function resetConnection({ stream }: Redis): void {
  if (stream instanceof TLSSocket) stream.destroy();
  else stream.resetAndDestroy();
}
