export { openRedisLeases } from "./redis-leases.ts";
export type { RedisLeasesOptions } from "./redis-leases-options.ts";
export { openRedlock } from "./redlock.ts";
