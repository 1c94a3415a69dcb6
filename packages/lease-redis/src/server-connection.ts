/** From a URL to what ioredis takes. */
import type { RedisOptions } from "ioredis";
import { reconnectDelay } from "./ask-in-time.ts";
import type { Address, LeaseUrl } from "./lease-url.ts";

/** Then the next one is asked. */
const SENTINEL_ANSWERS_WITHIN_MS = 1_000;

type Connection = Omit<RedisOptions, "replyMapping">;

/** As whom, and whether encrypted. Certificates are verified. */
export function credentialsOf({ username, password, tls }: LeaseUrl): Connection {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
  };
}

/** One server. */
export function serverConnection(url: LeaseUrl, { host, port }: Address): Connection {
  return { ...credentialsOf(url), host, port, db: url.db };
}

/** Whatever server the sentinels call the primary, asked anew at each connection. */
export function primaryConnection(url: LeaseUrl, answerWithinMs: number): Connection {
  const { addresses, primary, tls, sentinelUsername, sentinelPassword, db } = url;
  return {
    ...credentialsOf(url),
    db,
    sentinels: addresses.map(({ host, port }) => ({ host, port })),
    name: primary,
    enableTLSForSentinelMode: tls,
    ...(tls && { sentinelTLS: {} }),
    ...(sentinelUsername !== undefined && { sentinelUsername }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    sentinelCommandTimeout: SENTINEL_ANSWERS_WITHIN_MS,
    sentinelRetryStrategy: reconnectDelay(answerWithinMs),
    // The sentinels' word that they have chosen another primary ends a connection to the old one, which may still answer.
    failoverDetector: true,
  };
}
