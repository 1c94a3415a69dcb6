/**
 * Setting items aside for a person, all of a batch at once.
 *
 * It is one round trip to a function of the database, so that a process that freezes in the middle leaves no gate closed; and
 * the function is several statements, so that it sees what was written while it waited.
 */
import { invariant } from "@nightwriter/core";
import { type Database, parameter, type Schema, type Statement, sqlFault, statement } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import type { Term } from "@nightwriter/partition";
import { type QueryCreator, sql } from "kysely";
import { type GivenItems, givenItems } from "./given-items.ts";
import type { Item, ItemOutcome } from "./item.ts";

export interface ParkedItem {
  readonly item: Item;
  readonly outcome: Extract<ItemOutcome, { outcome: "parked" }>;
}

/** What is to be parked, and in whose name. */
export interface ParkRequest {
  readonly job: Job;
  /** The term under which the partition of all the items is held. */
  readonly term: Term;
  readonly parked: readonly ParkedItem[];
  readonly worker: string;
}

/**
 * What became of an item that was to be parked.
 *
 * - `parked`: it is, by this call or before, with its reason in `attempt`.
 * - `failing`: so many items of its run are parked for the same cause that no more are. It stays due.
 * - `applied`: it has its entry, and was left alone. `storedToken` as in `fenced`; absent if the term is mine.
 * - `fenced`: the term is not the partition's current one, and others may see the item with other eyes: it was left alone.
 * - `withdrawn`: an operator took it back, or this job has no such item in this partition.
 */
export type ParkAnswer =
  | { readonly outcome: "parked" | "failing" }
  | { readonly outcome: "applied"; readonly storedToken?: bigint }
  | { readonly outcome: "fenced"; readonly storedToken: bigint }
  | { readonly outcome: "withdrawn"; readonly reason: "cancelled" | "unplanned" };

/**
 * Parks what it may under this term, and answers in the order of `parked`. After it returns nothing that is parked is applied any
 * more: it waits at the gates for the writes in flight, and raises the runs' revisions, so that later ones that saw the old
 * revision change nothing. All or nothing: throws SqlFault, and then nothing is parked, unless the answer was lost. Refused
 * in a session that is not at READ COMMITTED.
 */
export async function parkItems(database: Database, request: ParkRequest): Promise<ParkAnswer[]> {
  const { job, term, parked, worker } = request;
  const { rows } = await database
    .run(
      parking(database.db).bind({
        ...givenItems(parked.map(({ item }) => item)),
        ...term,
        job: job.id,
        worker,
        reasons: parked.map(({ outcome }) => outcome.reason),
        sqlstates: parked.map(({ outcome }) => outcome.sqlstate ?? null),
        causes: parked.map(({ outcome }) => outcome.damage ?? outcome.sqlstate ?? "bug"),
      }),
    )
    .catch((error: unknown) => Promise.reject(sqlFault(error)));
  const answers = new Map(rows.map((row) => [row.item, answerOf(row)]));
  return parked.map(({ item }, index) => {
    const answer = answers.get(BigInt(index + 1));
    invariant(answer !== undefined, `item of key ${item.key}: the park left it out`);
    return answer;
  });
}

interface ParkValues extends GivenItems, Term {
  readonly job: number;
  readonly worker: string;
  readonly reasons: readonly string[];
  readonly sqlstates: readonly (string | null)[];
  readonly causes: readonly string[];
}

interface AnswerRow {
  /** Its place among the given items, from 1. */
  item: bigint;
  outcome: "parked" | "failing" | "applied" | "fenced" | "cancelled" | "unplanned";
  /** Null: the term is mine. */
  stored_token: bigint | null;
}

function parking(db: QueryCreator<Schema>): Statement<ParkValues, AnswerRow> {
  const call = sql<AnswerRow>`nightwriter.park_items(
    ${parameter("job", "integer")}, ${parameter("partition", "integer")}, ${parameter("fencingToken", "bigint")},
    ${parameter("nonce", "uuid")}, ${parameter("worker", "text")},
    ${parameter("runIds", "bigint[]")}, ${parameter("businessDates", "date[]")}, ${parameter("keys", "text[]")},
    ${parameter("reasons", "text[]")}, ${parameter("sqlstates", "text[]")}, ${parameter("causes", "text[]")})`;
  return statement(db.selectFrom(call.as("answered")).selectAll());
}

function answerOf({ outcome, stored_token }: AnswerRow): ParkAnswer {
  switch (outcome) {
    case "parked":
    case "failing":
      return { outcome };
    case "applied":
      return { outcome, ...(stored_token !== null && { storedToken: stored_token }) };
    case "fenced":
      return { outcome, storedToken: stored_token ?? 0n };
    case "cancelled":
    case "unplanned":
      return { outcome: "withdrawn", reason: outcome };
  }
}
