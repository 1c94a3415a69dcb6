/**
 * The claim of an installation in a PostgreSQL that keeps queues: a row of BullMQ's own table of named values, so that no role needs
 * the right to make a table. It is bound to the cluster and database that it was written in: one that a dump has
 * brought along is nobody's claim here.
 */
import { type ClaimSlot, claimPlace } from "@nightwriter/installation";
import type { PgPool } from "bullmq";
import { QueueFault, queueFault } from "./queue-fault.ts";

/** No queue has this name: those of partitions are in braces. */
const row = "claim";

const readable = `select value, pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as "isReadOnly"
  from (select 1) as one left join meta on queue = $1 and field = ${claimPlace}`;
const insert = `insert into meta (queue, field, value) values ($1, ${claimPlace}, $2) on conflict do nothing`;
const update = `update meta set value = $2 where queue = $1 and field = ${claimPlace} and value = $3`;

/** `store` names it in faults. */
export function postgresClaim(pool: PgPool, store: string): ClaimSlot {
  const ask = async <Row>(text: string, values: readonly unknown[]): Promise<readonly Row[]> => {
    try {
      return (await pool.query<Row>(text, [...values])).rows;
    } catch (error) {
      throw queueFault(error, store);
    }
  };
  const read = async (): Promise<string | undefined> => {
    const [found] = await ask<{ value: string | null; isReadOnly: boolean }>(readable, [row]);
    if (found?.isReadOnly === true) {
      const message = `queue ${store}: it takes no writes; use the primary's address in QUEUE_URL`;
      throw new QueueFault("queue_misconfigured", message, { details: { store } });
    }
    return found?.value ?? undefined;
  };
  return {
    label: `the queue in ${store}`,
    read,
    replace: async (before, text) => {
      if (before === undefined) await ask(insert, [row, text]);
      else await ask(update, [row, text, before]);
      return read();
    },
  };
}
