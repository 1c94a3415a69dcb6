import type { LeftOutPair } from "@nightwriter/run";
import type { RetryObstacle } from "@nightwriter/withdrawal";

/** Why a pair has no item in a run that was asked for it, or why an item stays withdrawn. */
export interface Hindrance {
  readonly key: string;
  readonly why: LeftOutPair["reason"] | RetryObstacle["why"];
  /** The run that is in the way, if one is. */
  readonly runId?: bigint | undefined;
}

/** What to do about it: one table, for whoever plans and for whoever retries. */
export function remedyText({ key, why, runId }: Hindrance): string {
  switch (why) {
    case "applied":
      return "has its entry; there is nothing to do";
    case "parked":
      return `mend it, then: nightwriter items retry --key ${key} --reason TEXT`;
    case "cancelled":
      return `take it back with: nightwriter items retry --key ${key} --reason TEXT`;
    case "run_cancelled":
      return "what a cancelled run left is applied by no run";
    case "closed":
      return "corrections of a closed date need an approval";
    case "due":
      return `run ${runId} adds it; ask again once that is done, should anything be missing then`;
  }
}
