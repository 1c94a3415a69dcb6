/**
 * Faults of the queue's store, sorted once and here. Redis begins an error with its code (`OOM`, `NOAUTH`), Postgres has
 * SQLSTATEs, sockets have errnos: those decide. A driver's own errors carry none of them, only a class name or a fixed text.
 */
import { Fault, type FaultDetails } from "@nightwriter/core";

/**
 * - `queue_url_invalid`: the URL's scheme is none that is known.
 * - `queue_unreachable`: the store is away, starting, failing over or too slow; waiting helps.
 * - `queue_denied`: it does not know the user, or does not let them.
 * - `queue_misconfigured`: it would lose jobs: it may evict keys, keeps no log of writes, or is a replica.
 * - `queue_unsupported`: it is older than what BullMQ or Nightwriter needs.
 * - `queue_full`: its memory or disk is used up; nothing can be added until somebody makes room.
 * - `queue_failed`: it answered with an error that is none of these.
 */
export type QueueFaultCode =
  | "queue_url_invalid"
  | "queue_unreachable"
  | "queue_denied"
  | "queue_misconfigured"
  | "queue_unsupported"
  | "queue_full"
  | "queue_failed";

/** A fault of the queue's store. `details.store` says which store and where, without credentials. */
export class QueueFault extends Fault<QueueFaultCode> {
  override readonly name = "QueueFault";
}

const remedies = {
  queue_unreachable: "try again, or see whether it runs",
  queue_denied: "see user and password of QUEUE_URL and what that user may do",
  queue_full: "make room in it",
  queue_failed: "see the cause",
} as const;

const redisCodes: Readonly<Record<string, keyof typeof remedies>> = {
  NOAUTH: "queue_denied",
  WRONGPASS: "queue_denied",
  NOPERM: "queue_denied",
  OOM: "queue_full",
  LOADING: "queue_unreachable",
  READONLY: "queue_unreachable",
  MASTERDOWN: "queue_unreachable",
  NOREPLICAS: "queue_unreachable",
  CLUSTERDOWN: "queue_unreachable",
  TRYAGAIN: "queue_unreachable",
  BUSY: "queue_unreachable",
  MISCONF: "queue_full",
};

const sqlstates: readonly (readonly [string, keyof typeof remedies])[] = [
  ["28", "queue_denied"],
  ["3D", "queue_denied"],
  ["42501", "queue_denied"],
  ["53100", "queue_full"],
  ["08", "queue_unreachable"],
  ["40", "queue_unreachable"],
  ["53", "queue_unreachable"],
  ["55", "queue_unreachable"],
  ["57", "queue_unreachable"],
];

const driverTexts =
  /^(Connection is closed|Connection terminated|Command timed out|Query read timeout|timeout e|connect E|Reached the max retries)/;

/** The fault that a driver's error is. `store` names the store without credentials: `redis at cache:6379`. */
export function queueFault(error: unknown, store: string): QueueFault {
  if (error instanceof QueueFault) return error;
  const code = sort(error);
  const fact = error instanceof Error ? error.message || error.name : String(error);
  const details: FaultDetails = { store };
  return new QueueFault(code, `queue ${store}: ${fact}; ${remedies[code]}`, {
    details,
    retryable: code === "queue_unreachable" || code === "queue_full",
    cause: error,
  });
}

function sort(error: unknown): keyof typeof remedies {
  if (!(error instanceof Error)) return "queue_failed";
  if (error instanceof AggregateError && error.errors.length > 0) return sort(error.errors[0]);
  const code: unknown = "code" in error ? error.code : undefined;
  if (typeof code === "string") {
    if (/^E[A-Z_]+$/.test(code)) return "queue_unreachable";
    const known = sqlstates.find(([prefix]) => code.startsWith(prefix));
    if (known !== undefined) return known[1];
  }
  const word = /^[A-Z]+(?= )/.exec(error.message)?.[0];
  if (word !== undefined) return redisCodes[word] ?? "queue_failed";
  return driverTexts.test(error.message) ? "queue_unreachable" : "queue_failed";
}
