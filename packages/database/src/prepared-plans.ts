/**
 * Plans that the server keeps: how a statement with a name is run again without being planned again.
 *
 * Planning the guarded write takes several times as long as an index lookup, and it is the same plan every time. So a named
 * statement is prepared once per connection; after five times the server itself compares what planning for the very
 * values has gained, and keeps one plan for all values where that was nothing. A pool for which that is known beforehand
 * says so (`indexLookups`), and its plans are kept from the first.
 *
 * A kept plan can go stale. On the first night of a database the ledger is empty and reading it whole is the best plan there
 * is; twenty thousand entries later it is a disaster. The server makes a new plan when statistics have changed, but autovacuum
 * looks once a minute, and a night of 20,000 takes seconds. So no plan is older than {@link plansKeptMs}: that costs one
 * planning and one short round trip per connection and second, and a bad plan, whatever made it bad, is gone in a second.
 */
import type pg from "pg";

/** How long a connection keeps its plans at most, in milliseconds. */
const plansKeptMs = 1_000;

const plannedAt = new WeakMap<pg.PoolClient, number>();

/** Afterwards every statement that the connection has prepared is planned as the tables are now, or were a second ago. */
export async function dropStalePlans(client: pg.PoolClient, nowMs: number = performance.now()): Promise<void> {
  const sinceMs = plannedAt.get(client);
  if (sinceMs !== undefined && nowMs - sinceMs < plansKeptMs) return;
  plannedAt.set(client, nowMs);
  // A connection that was just made has none.
  if (sinceMs !== undefined) await client.query("discard plans");
}
