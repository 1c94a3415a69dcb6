import { QueueFault } from "./queue-fault.ts";

/** What Nightwriter is tested on; BullMQ itself would take 13. */
const oldestMajor = 15;

export interface PostgresVersion {
  /** `15.13 (Debian 15.13-0+deb12u1)` */
  readonly version: string;
  /** `server_version_num`: 150013. */
  readonly number: number;
}

/** Throws a QueueFault when the server is too old. */
export function checkPostgres({ version, number }: PostgresVersion, store: string): void {
  if (number >= oldestMajor * 10_000) return;
  const message = `queue ${store}: PostgreSQL ${version}; ${oldestMajor} or newer is needed: upgrade it`;
  throw new QueueFault("queue_unsupported", message, { details: { store, version } });
}
