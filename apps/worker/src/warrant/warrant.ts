import type { Term } from "@nightwriter/partition";

/** Why a partition is not consumed any more. */
export type Ending = "handed over" | "fenced" | "lost";

/**
 * What a partition is written under: a term, as long as this process may use it.
 *
 * Two kinds: with a lease (`leased-warrant`), one term, which ends for good; without (`unleased-warrant`), whatever term the
 * partition has, which never ends by itself.
 */
export interface Warrant {
  /**
   * The term to write under. Undefined: nothing may be sent any more, and never will be. Asked once for each statement, right
   * before it: between the question and the statement nothing is waited for but a connection.
   */
  term(): Term | undefined;
  /**
   * A statement under this term was refused. Resolves when `term()` is another, or undefined. Throws a Fault that is
   * retryable when that could not be found out now.
   */
  refused(term: Term): Promise<void>;
  /** Aborts when nothing may be sent any more; `reason` is the {@link Ending}. */
  readonly ended: AbortSignal;
  /** Ends it, in good order if it has not ended otherwise: afterwards the partition is free for others. Never throws for weather. */
  giveUp(): Promise<void>;
}

/** The ending of a warrant that has ended. */
export function endingOf({ ended }: Pick<Warrant, "ended">): Ending {
  return ended.reason as Ending;
}
