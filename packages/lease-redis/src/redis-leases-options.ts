import type { Logger } from "@nightwriter/core";

/** Where leases are, how long they last, and how this process shows. */
export interface RedisLeasesOptions {
  /** redis:, rediss:, redis+sentinel: or redis+cluster:; for openRedlock redis+redlock:. */
  readonly url: string;
  /** Keeps installations apart: the prefix of all keys. Letters, digits, _ and -. */
  readonly prefix: string;
  /** The length of a lease, in milliseconds. */
  readonly ttlMs: number;
  /** How this process shows in CLIENT LIST. */
  readonly applicationName: string;
  readonly logger: Logger;
}
