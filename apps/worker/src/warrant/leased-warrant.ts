/**
 * With a lease: one term, raised under it, from acquire to end.
 *
 * It ends by whatever comes first: it is given up; a write is refused, so somebody else has raised the partition's term; the
 * lease cannot be trusted any more. After that nothing is sent under it. Only the first of these gives its reason; a refusal
 * that comes later, of a statement that was on its way, is logged all the same.
 *
 * Sealing shuts out even what is still on its way, so a term is sealed when it is given up. When it was fenced or lost there is
 * nothing to seal for: the next holder raises.
 */
import { Fault, type Logger } from "@nightwriter/core";
import type { Lease, LeaseKeeper } from "@nightwriter/lease";
import type { Term } from "@nightwriter/partition";
import type { Ending, Warrant } from "./warrant.ts";

export interface LeasedWarrantOptions {
  readonly lease: Lease;
  readonly term: Term;
  readonly leases: Pick<LeaseKeeper, "release">;
  readonly seal: (term: Term) => Promise<boolean>;
  /** Its lines say which partition. */
  readonly logger: Logger;
}

export function createLeasedWarrant(options: LeasedWarrantOptions): Warrant {
  const { lease, term, leases, seal, logger } = options;
  const over = new AbortController();
  let refusedBefore = false;

  function end(ending: Ending): boolean {
    if (over.signal.aborted) return false;
    over.abort(ending);
    return true;
  }

  async function sealIfItCan(): Promise<void> {
    try {
      await seal(term);
    } catch (error) {
      if (!(error instanceof Fault && error.retryable)) throw error;
      logger.warn({ fencingToken: term.fencingToken, err: error }, "term not sealed: the next raise ends it");
    }
  }

  const lose = (): void => void end("lost");
  lease.lost.addEventListener("abort", lose, { once: true });
  if (lease.lost.aborted) lose();
  return {
    ended: over.signal,
    term() {
      if (over.signal.aborted) return undefined;
      // After a freeze this runs before the timer that would say so.
      if (lease.leftMs() <= 0) lose();
      return over.signal.aborted ? undefined : term;
    },
    async refused() {
      if (!refusedBefore) logger.warn({ fencingToken: term.fencingToken }, "fenced");
      refusedBefore = true;
      end("fenced");
    },
    async giveUp() {
      lease.lost.removeEventListener("abort", lose);
      if (end("handed over")) await sealIfItCan();
      await leases.release(lease);
    },
  };
}
