/**
 * A storm over one night: few keys, many writers, and everything that can go wrong at once.
 *
 * Eight writers, each on a connection of its own, are handed the items of rival runs over the same keys and dates, many of
 * them twice or three times, while terms are raised, sales are recorded in transactions that commit late or not at all, and
 * backends are terminated. What is drawn at random comes from one seed; how the parties then meet, nobody decides.
 * Afterwards every item is delivered once more until it is settled, and one more run takes up the last sales.
 */
import { invariant, silentLogger, toJson } from "@nightwriter/core";
import { type Database, openDatabase, sqlFault } from "@nightwriter/database";
import { applyItems, type Item, type ItemOutcome } from "@nightwriter/ledger";
import { readTerms, type Term } from "@nightwriter/partition";
import type { Randomness } from "@nightwriter/testkit";
import { sql } from "kysely";
import { apply, type Night, plan } from "./night.ts";

export const dates: readonly string[] = ["2026-03-01", "2026-03-02"];
const writerCount = 8;
const recorderCount = 3;
/** How many batches go by, at most, before a party acts again: counted, so that a slow machine has the same weather. */
const calm = { raise: 40, terminate: 20, record: 4, commit: 8 };

export interface Storm {
  readonly random: Randomness;
  readonly itemCount: number;
  /** Told apart from other storms over the same night by it. */
  readonly name: string;
  /** What the writers use instead of their databases: to be wrong on purpose. */
  readonly spoil?: (database: Database) => Database;
}

/** What has happened, by kind: the outcomes of the writers, and what disturbed them. */
export type Weather = Record<ItemOutcome["outcome"] | "raised" | "recorded" | "terminated", number>;

/** Returns when every item has its entry, unless the write is wrong, and every sale is in an entry. */
export async function storm(night: Night, { random, itemCount, name, spoil }: Storm): Promise<Weather> {
  const items: Item[] = [];
  while (items.length < itemCount) {
    const businessDate = dates[random.below(dates.length)] ?? "";
    items.push(...(await plan(night, { request: `${name} ${items.length}`, businessDate })));
  }
  const sky = new Sky(night, random);
  await sky.rage(new Deliveries(items, random), spoil ?? ((database) => database));
  await settle(night, items);
  for (const businessDate of dates) {
    await settle(night, await plan(night, { request: `${name} last ${businessDate}`, businessDate }));
  }
  await night.test.db.updateTable("nightwriter.run").set({ finished_at: new Date() }).execute();
  return sky.weather;
}

/** Delivers each item again, undisturbed, until it has its entry. */
async function settle(night: Night, items: readonly Item[]): Promise<void> {
  const [term] = await readTerms(night.test.database, night.job);
  for (const batch of batches(items, () => night.keys.length)) {
    const outcomes = await apply(night, batch, term);
    const strange = outcomes.find(({ outcome }) => outcome !== "applied" && outcome !== "duplicate");
    invariant(strange === undefined, `undisturbed: ${toJson(strange, 0)} instead of applied or duplicate`);
  }
}

/** Cuts the items, in their order, into batches of at most `size()` that have no key twice. */
function* batches(items: readonly Item[], size: () => number): Generator<Item[]> {
  let batch: Item[] = [];
  let limit = size();
  for (const item of items) {
    if (batch.length >= limit || batch.some(({ key }) => key === item.key)) {
      yield batch;
      batch = [];
      limit = size();
    }
    batch.push(item);
  }
  yield batch;
}

/** Batches on their way: each item one to three times, in any order; what was not settled comes again, up to a limit. */
class Deliveries {
  readonly #random: Randomness;
  readonly #waiting: Item[][];
  #left: number;

  constructor(items: readonly Item[], random: Randomness) {
    this.#random = random;
    const copies = items.flatMap((item) => Array.from({ length: 1 + random.below(3) }, () => item));
    const shuffled = copies
      .map((item) => ({ item, place: random.next() }))
      .toSorted((one, other) => one.place - other.place)
      .map(({ item }) => item);
    this.#waiting = [...batches(shuffled, () => 1 + random.below(4))];
    this.#left = this.#waiting.length * 4;
  }

  next(): Item[] | undefined {
    this.#left -= 1;
    return this.#left < 0 ? undefined : this.#waiting.shift();
  }

  again(items: Item[]): void {
    if (items.length > 0) this.#waiting.splice(this.#random.below(this.#waiting.length + 1), 0, items);
  }
}

class Sky {
  readonly #night: Night;
  readonly #random: Randomness;
  readonly #progress = new Progress();
  readonly weather: Weather = {
    applied: 0,
    duplicate: 0,
    fenced: 0,
    conflict: 0,
    withdrawn: 0,
    parked: 0,
    failing: 0,
    unknown: 0,
    raised: 0,
    recorded: 0,
    terminated: 0,
  };

  constructor(night: Night, random: Randomness) {
    this.#night = night;
    this.#random = random;
  }

  /** Returns when the deliveries are used up, and everybody has stopped. */
  async rage(deliveries: Deliveries, spoil: (database: Database) => Database): Promise<void> {
    const disturbing = [
      this.#repeat(calm.raise, async () => this.#raise()),
      this.#repeat(calm.terminate, async () => this.#terminate()),
      ...Array.from({ length: recorderCount }, async () => this.#recordAsRecorder()),
    ];
    const writing = Array.from({ length: writerCount }, async (_, index) => this.#write(index, deliveries, spoil));
    const written = Promise.all(writing).finally(() => this.#progress.end());
    await Promise.all([written, ...disturbing]);
  }

  async #write(index: number, deliveries: Deliveries, spoil: (database: Database) => Database): Promise<void> {
    const { test, job } = this.#night;
    await using own = openDatabase({ url: test.url, applicationName: "writer", max: 1 });
    const database = spoil(own);
    let term: Term | undefined;
    for (let batch = deliveries.next(); batch !== undefined; batch = deliveries.next()) {
      term ??= await this.#readTerm(own);
      if (term === undefined) {
        deliveries.again(batch);
        continue;
      }
      const outcomes = await applyItems(
        { database, job, term, worker: `writer ${index}`, logger: silentLogger },
        batch,
      );
      for (const { outcome } of outcomes) this.weather[outcome] += 1;
      this.#progress.advance();
      deliveries.again(batch.filter((_, place) => !isSettled(outcomes[place])));
      if (outcomes.some(({ outcome }) => outcome === "fenced")) term = undefined;
    }
  }

  async #readTerm(database: Database): Promise<Term | undefined> {
    const terms = await weatherproof(async () => readTerms(database, this.#night.job));
    return terms?.[0];
  }

  /** A new term; one in four has the token of the one before, and only its nonce tells them apart. */
  async #raise(): Promise<void> {
    await sql`with counter as (
        update nightwriter.job set fencing_token = fencing_token + ${Math.min(this.#random.below(4), 1)}::int returning fencing_token
      )
      update nightwriter.partition_term as it set fencing_token = counter.fencing_token, nonce = gen_random_uuid()
      from counter`.execute(this.#night.test.db);
    this.weather.raised += 1;
  }

  /** Ends any one connection, of those that are in the middle of something if there are any. */
  async #terminate(): Promise<void> {
    const { rows } = await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name in ('writer', 'recorder')
      order by state = 'active' desc, md5(pid || ${String(this.#random.next())}::text) limit 1`.execute(
      this.#night.test.db,
    );
    this.weather.terminated += rows.length;
  }

  async #recordAsRecorder(): Promise<void> {
    await using database = openDatabase({ url: this.#night.test.url, applicationName: "recorder", max: 1 });
    await this.#repeat(calm.record, async () => {
      await weatherproof(async () => this.#record(database));
    });
  }

  /** A sale or refund of each key on some date, which others see only when some writes have gone by; one in five never. */
  async #record(database: Database): Promise<void> {
    const businessDate = dates[this.#random.below(dates.length)];
    await database.session(async (session) => {
      await session.query("begin");
      for (const key of this.#night.keys) {
        await session.query(
          `insert into sales.sale (restaurant_id, business_date, source, source_line, amount_minor)
           values ($1, $2, gen_random_uuid()::text, 1, $3)`,
          [key, businessDate, this.#random.below(2_000) - 500],
        );
      }
      await this.#calm(calm.commit);
      await session.query(this.#random.below(5) === 0 ? "rollback" : "commit");
    });
    this.weather.recorded += 1;
  }

  /** Does something again and again until the storm is over. */
  async #repeat(atMost: number, action: () => Promise<void>): Promise<void> {
    while (!this.#progress.ended) {
      await this.#calm(atMost);
      await action();
    }
  }

  async #calm(atMost: number): Promise<void> {
    await this.#progress.after(1 + this.#random.below(atMost));
  }
}

/** Counts the batches of all writers, and tells who waits for some of them. */
class Progress {
  #count = 0;
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  ended = false;

  advance(): void {
    this.#count += 1;
    for (const each of this.#waiting) if (each.count <= this.#count) each.resolve();
    this.#waiting = this.#waiting.filter(({ count }) => count > this.#count);
  }

  /** Returns when so many more batches are done, or none will be done any more. */
  async after(batchCount: number): Promise<void> {
    if (this.ended) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ count: this.#count + batchCount, resolve });
    await promise;
  }

  end(): void {
    this.ended = true;
    for (const { resolve } of this.#waiting) resolve();
  }
}

function isSettled(outcome: ItemOutcome | undefined): boolean {
  return outcome?.outcome === "applied" || outcome?.outcome === "duplicate";
}

/** Undefined where the connection was lost, or had to wait too long. */
async function weatherproof<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    const fault = sqlFault(error);
    if (fault.retryable) return undefined;
    throw fault;
  }
}
