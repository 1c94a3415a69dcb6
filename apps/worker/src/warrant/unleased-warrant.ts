/**
 * Without leases: whatever term the partition has now. It is read and never raised. Somebody else may raise it (a test, an
 * operator): then a write is refused, the terms are read again, and the next write is under the new one. Only when the job
 * has no such partition any more is it lost.
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
  const end = (ending: Ending): void => {
    if (!over.signal.aborted) over.abort(ending);
  };
  return {
    ended: over.signal,
    term() {
      const term = terms.current(partition);
      if (term === undefined) end("lost");
      return over.signal.aborted ? undefined : term;
    },
    async refused(term: Term) {
      logger.info({ fencingToken: term.fencingToken }, "fenced: reading the term again");
      await terms.readAgain(term);
    },
    giveUp: async () => end("handed over"),
  };
}
