/** Names who keeps statements on a PostgreSQL queue waiting for a lock: given by the process, which knows how to ask. */
export interface LockWatch {
  /** From now on a lock timeout of what this client sends names the sessions that were in the way. */
  over(client: { query: (...statement: never[]) => unknown }): void;
  end(): Promise<void>;
}

export type WatchLocks = (options: {
  readonly url: string;
  readonly applicationName: string;
  readonly lockTimeoutMs: number;
}) => LockWatch;
