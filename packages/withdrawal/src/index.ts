export { enqueueRetried } from "./enqueue-retried.ts";
export {
  type LeftOutItem,
  type RetriedItem,
  type Retry,
  type RetryRequest,
  retryItems,
} from "./retry-items.ts";
export type { RetryObstacle } from "./retry-obstacles.ts";
export { type Selection, type WithdrawnItem, withdrawnItems } from "./withdrawn-items.ts";
