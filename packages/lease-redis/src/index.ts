export { openRedisLeases, type RedisLeasesOptions } from "./redis-leases.ts";
