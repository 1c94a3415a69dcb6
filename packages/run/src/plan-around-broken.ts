/**
 * Planning around pairs that cannot be looked at: one key's data must not stop the plan of the others.
 *
 * Where looking at some pair is what the statement fails at, that pair is planned unseen, with the others that were asked for: its own
 * write will park it and say why. A pair can start to fail between the look and the plan; if it goes on like that, or no pair is to
 * blame, nothing is looked at, and all that may be due is planned.
 */
import { sqlFault } from "@nightwriter/database";
import type { Pairs } from "./candidate-pairs.ts";
import type { Planning } from "./planning.ts";
import type { Pair } from "./touched-pairs.ts";
import { isRefused, type UncomparedPair, withSavepoint } from "./uncompared-pairs.ts";

/** How far a plan looks. */
interface Looks {
  /** Not at these: they are candidates as they are. */
  readonly except: readonly Pair[];
  /** False: at nothing that may fail, so more is planned than is due. */
  readonly compare: boolean;
}

/** What may be planned, some of which has to be looked at. */
export interface LookingPlan {
  readonly candidates: (looks: Looks) => readonly Pairs[];
  /** Those that cannot be looked at. */
  readonly findUncompared: () => Promise<readonly UncomparedPair[]>;
}

interface PlannedAround<Result> {
  readonly result: Result;
  /** Pairs that could not be looked at, and are among the candidates all the same. */
  readonly uncompared: readonly UncomparedPair[];
}

/** Calls `work` with the candidates until it succeeds, what it did before undone. Throws SqlFault, and what `work` throws. */
export async function aroundBroken<Result>(
  frame: Planning,
  plan: LookingPlan,
  work: (candidates: readonly Pairs[]) => Promise<Result>,
): Promise<PlannedAround<Result>> {
  let uncompared: readonly UncomparedPair[] = [];
  for (let looks = 0; looks < 3; looks++) {
    try {
      const candidates = plan.candidates({ except: uncompared, compare: true });
      return { result: await withSavepoint(frame, () => work(candidates)), uncompared };
    } catch (error) {
      const fault = sqlFault(error);
      if (!isRefused(fault)) throw fault;
      const found = await plan.findUncompared();
      if (found.length <= uncompared.length) break;
      uncompared = found;
    }
  }
  return { result: await work(plan.candidates({ except: uncompared, compare: false })), uncompared };
}
