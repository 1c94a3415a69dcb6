/** Errors of Redis and of its client, sorted once and here. Redis begins an error with its code; the client's own have none. */
import { LeaseFault } from "@nightwriter/lease";

/** Codes of a server that will be of use again by itself: starting, failing over, moving slots, in a long script. */
const passing = new Set([
  "ASK",
  "BUSY",
  "CLUSTERDOWN",
  "LOADING",
  "MASTERDOWN",
  "MOVED",
  "NOREPLICAS",
  "READONLY",
  "TRYAGAIN",
  "UNKILLABLE",
]);

/** Codes of a server that will be of use again when somebody has made room. */
const full = new Set(["MISCONF", "OOM"]);

/** The fault that an error of the client is. `label` names the servers without passwords: `redis at cache:6379`. */
export function leaseFault(error: unknown, label: string): LeaseFault {
  if (error instanceof LeaseFault) return error;
  const fact = factOf(error);
  const details = { store: label };
  // Only what a server has answered can be wrong with it: all else is a connection, or its absence.
  const code = error instanceof Error && error.name === "ReplyError" ? codeOf(error) : undefined;
  if (code === undefined || passing.has(code)) {
    return new LeaseFault("lease_store_away", `leases in ${label}: ${fact}; try again, or see whether it runs`, {
      details,
      retryable: true,
      cause: error,
    });
  }
  const isFull = full.has(code);
  const remedy = isFull ? "make room in it" : "see user and password of LEASE_URL and what that user may do";
  return new LeaseFault("lease_store_unfit", `leases in ${label}: ${fact}; ${remedy}`, {
    details,
    retryable: isFull,
    cause: error,
  });
}

function factOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The client gives up what it has asked when a connection ends, and speaks of an option.
  return error.name === "MaxRetriesPerRequestError" ? "connection lost" : error.message || error.name;
}

/** Whether the server is a replica. Before 7.0 a script's error hides its code in the text. */
export function isReadOnly(error: Error): boolean {
  return error.message.includes("READONLY ");
}

/** Whether a cluster's node says that the key is with another one. */
export function isRedirection(answer: unknown): boolean {
  return answer instanceof Error && /^(?:MOVED|ASK) /.test(answer.message);
}

function codeOf(error: Error): string {
  return isReadOnly(error) ? "READONLY" : (/^[A-Z]+/.exec(error.message)?.[0] ?? "");
}
