import type { RetryObstacle } from "@nightwriter/withdrawal";

/** What stands in the way of a retry, and what to do. */
export function obstacleText(obstacle: RetryObstacle): string {
  switch (obstacle.why) {
    case "applied":
      return "has its entry; there is nothing to do";
    case "cancelled":
      return "was cancelled by name; name it with --key";
    case "run_cancelled":
      return "its run was cancelled; what a cancelled run left is not applied by it";
    case "closed":
      return "its date is closed; its corrections need an approval";
    case "due":
      return `is due in run ${obstacle.runId}; retry it once that is applied, should it still be parked`;
  }
}
