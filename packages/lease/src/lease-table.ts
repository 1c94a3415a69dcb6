/**
 * The statements on nightwriter.lease: a row for each lease, with the instant of its expiry by the server's clock. Nobody
 * else's clock is asked.
 *
 * Each is one statement in autocommit. It reads the clock when it comes to a row, not when it began: it may have waited for
 * that row in between. A row that has expired stays until somebody takes the lease, so there are as many rows as names.
 */
import type { Schema } from "@nightwriter/database";
import { type AliasedRawBuilder, type Kysely, type RawBuilder, sql } from "kysely";
import type { LeaseClaim, LeaseGrant, LeaseSight, LeaseStore } from "./lease-store.ts";

export type LeaseTable = Pick<LeaseStore, "acquire" | "find" | "release" | "renew">;

const now: RawBuilder<Date> = sql`clock_timestamp()`;

/** The rows of one prefix. Errors are the driver's own. */
export function leaseTable(
  db: Kysely<Schema>,
  options: { readonly prefix: string; readonly ttlMs: number },
): LeaseTable {
  const rowName = (name: string): string => `${options.prefix}:${name}`;
  const leaseName = (row: string): string => row.slice(rowName("").length);
  const expiry: RawBuilder<Date> = sql`clock_timestamp() + ${options.ttlMs}::float8 * interval '1 ms'`;
  const claimed = (claims: readonly LeaseClaim[]) =>
    claimedRows(claims.map((each) => ({ ...each, name: rowName(each.name) })));
  return {
    async acquire({ name, holder, nonce }): Promise<LeaseGrant | undefined> {
      const taken = await db
        .insertInto("nightwriter.lease")
        .values({ name: rowName(name), holder, nonce, expires_at: expiry })
        .onConflict((conflict) =>
          conflict
            .column("name")
            .doUpdateSet({ holder, nonce, expires_at: expiry })
            .where((row) =>
              row.or([
                row("nightwriter.lease.expires_at", "<=", now),
                row.and({ "nightwriter.lease.holder": holder, "nightwriter.lease.nonce": nonce }),
              ]),
            ),
        )
        .returning("name")
        .executeTakeFirst();
      return taken === undefined ? undefined : { storeToken: undefined };
    },

    async renew(claims): Promise<ReadonlySet<string>> {
      const rows = await db
        .updateTable("nightwriter.lease as it")
        .from(claimed(claims))
        .set({ expires_at: expiry })
        .whereRef("it.name", "=", "claim.name")
        .whereRef("it.holder", "=", "claim.holder")
        .whereRef("it.nonce", "=", "claim.nonce")
        .where("it.expires_at", ">", now)
        .returning("it.name")
        .execute();
      return new Set(rows.map((row) => leaseName(row.name)));
    },

    async release(claims): Promise<void> {
      await db
        .deleteFrom("nightwriter.lease as it")
        .using(claimed(claims))
        .whereRef("it.name", "=", "claim.name")
        .whereRef("it.holder", "=", "claim.holder")
        .whereRef("it.nonce", "=", "claim.nonce")
        .execute();
    },

    async find(names): Promise<ReadonlyMap<string, LeaseSight>> {
      const rows = await db
        .selectFrom("nightwriter.lease as it")
        .select(["it.name", "it.holder", "it.nonce"])
        .select(sql<number>`extract(epoch from it.expires_at - ${now})::float8 * 1000`.as("left_ms"))
        .where("it.name", "=", sql<string>`any(${names.map(rowName)}::text[])`)
        .where("it.expires_at", ">", now)
        .execute();
      return new Map(
        rows.map(({ name, holder, nonce, left_ms: leftMs }) => [leaseName(name), { holder, nonce, leftMs }]),
      );
    },
  };
}

/** `from` this: the n-th of each array belongs to the n-th claim. */
function claimedRows(claims: readonly LeaseClaim[]): AliasedRawBuilder<LeaseClaim, "claim"> {
  const column = (of: (claim: LeaseClaim) => string): string[] => claims.map(of);
  return sql<LeaseClaim>`unnest(
    ${column(({ name }) => name)}::text[], ${column(({ holder }) => holder)}::text[],
    ${column(({ nonce }) => nonce)}::uuid[])`.as<"claim">(sql`claim(name, holder, nonce)`);
}
