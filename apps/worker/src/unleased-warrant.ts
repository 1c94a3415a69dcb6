/**
 * Without leases: whatever term the partition has now. It is read and never raised. Somebody else may raise it (a test, an
 * operator): then a write is refused, the terms are read again, and the next write is under the new one.
 */
import type { Logger } from "@nightwriter/core";
import type { Term } from "@nightwriter/partition";
import type { TermReader } from "./term-reader.ts";
import type { Ending, Warrant } from "./warrant.ts";

export interface UnleasedWarrantOptions {
  readonly partition: number;
  readonly terms: TermReader;
  /** Its lines say which partition. */
  readonly logger: Logger;
}

export function createUnleasedWarrant({ partition, terms, logger }: UnleasedWarrantOptions): Warrant {
  const over = new AbortController();
  return {
    ended: over.signal,
    term: () => (over.signal.aborted ? undefined : terms.current(partition)),
    async refused(term: Term) {
      logger.info({ fencingToken: term.fencingToken }, "fenced: reading the term again");
      await terms.readAgain(term);
    },
    giveUp: async () => over.abort("handed over" satisfies Ending),
  };
}
