/** What the story tells its writers to do, and what they answer. Amounts and tokens are decimal texts: JSON has no bigint. */

/** A run item, as it crosses a pipe. */
export interface OrderedItem {
  readonly runId: string;
  readonly key: string;
  readonly businessDate: string;
}

/** How a write of the shipped statement came out, as far as the story tells it. */
export type WriteResult =
  | { readonly outcome: "applied"; readonly totalMinor: string; readonly token: string }
  | { readonly outcome: "duplicate" }
  | { readonly outcome: "fenced"; readonly token: string; readonly storedToken: string };

interface Order<Asks, Answers> {
  readonly asks: Asks;
  readonly answers: Answers;
}

type Nothing = Readonly<Record<string, never>>;

/** Every order by name, with what it needs and what it answers. */
export interface Orders {
  /** Opens the database, as a process does that starts. */
  readonly enter: Order<{ readonly databaseUrl: string }, Nothing>;
  readonly openLeases: Order<
    { readonly url: string; readonly prefix: string; readonly ttlMs: number },
    { readonly kind: string; readonly ttlMs: number }
  >;
  /** Takes the lease as soon as the store grants it, and with it a new token. */
  readonly take: Order<Nothing, { readonly token: string; readonly leftMs: number }>;
  readonly renew: Order<Nothing, { readonly leftMs: number }>;
  /** How long the lease may still be trusted, by the writer's own monotonic clock. */
  readonly check: Order<Nothing, { readonly leftMs: number; readonly ttlMs: number }>;
  /** Waits until the store says that nobody has the lease. */
  readonly seeFree: Order<Nothing, Nothing>;
  readonly release: Order<Nothing, Nothing>;
  /** Reads the total, and keeps in mind what it would be with the amount added. */
  readonly read: Order<{ readonly addMinor: string }, { readonly totalMinor: string; readonly meansMinor: string }>;
  /** Writes what it has kept in mind over the total, whatever that is by now. */
  readonly overwrite: Order<Nothing, { readonly rows: number; readonly wroteMinor: string }>;
  /** Applies the item with the shipped statement, under the term that was taken. */
  readonly apply: Order<OrderedItem, WriteResult>;
  /** The same under whatever term there is, without any lease: until it is applied or known to be. */
  readonly deliver: Order<OrderedItem, WriteResult>;
  /** Closes all that was opened. */
  readonly leave: Order<Nothing, Nothing>;
}

export type OrderName = keyof Orders;

/** One line to a writer. */
export type OrderLine = {
  readonly [Name in OrderName]: { readonly id: number; readonly order: Name; readonly asks: Orders[Name]["asks"] };
}[OrderName];

/** One line from a writer: `sent` comes before the answer of a write, when all of it has left the process. */
export type AnswerLine = { readonly id: number } & (
  | { readonly sent: true; readonly leftMs: number }
  | { readonly answer: unknown }
  | { readonly error: string }
);
