/**
 * A storm over one night: few keys, many writers, and everything that can go wrong at once.
 *
 * Eight writers, each on a connection of its own, are handed the items of rival runs over the same keys and dates, many of
 * them twice or three times, while terms are raised, sales are recorded in transactions that commit late or not at all, items
 * are parked, runs cancelled and keys paused while they are being written, and backends are terminated. What is drawn at random comes from one seed; how the parties then meet, nobody decides.
 * Afterwards every item is delivered once more until it is settled, and one more run takes up the last sales.
 */
import { randomUUID } from "node:crypto";
import { invariant, toJson } from "@nightwriter/core";
import { type Database, openDatabase } from "@nightwriter/database";
import type { Item, ItemOutcome } from "@nightwriter/ledger";
import { raiseTerm, readTerms } from "@nightwriter/partition";
import type { OlderBuild, Randomness } from "@nightwriter/testkit";
import { sql } from "kysely";
import { batches, Deliveries } from "./deliveries.ts";
import { apply, type Night, plan } from "./night.ts";
import { localWriter, olderWriter, type Writer } from "./storm-writers.ts";
import { weatherproof } from "./weatherproof.ts";
import { Withdrawals } from "./withdrawals.ts";

const dates: readonly string[] = ["2026-03-01", "2026-03-02"];
const writerCount = 8;
const recorderCount = 3;
/** How many batches go by, at most, before a party acts again: counted, so that a slow machine has the same weather. */
const calm = { raise: 40, terminate: 20, record: 4, commit: 8, withdraw: 12, pause: 6 };

export interface Storm {
  readonly random: Randomness;
  readonly itemCount: number;
  /** Told apart from other storms over the same night by it. */
  readonly name: string;
  /** What the writers use instead of their databases: to be wrong on purpose. */
  readonly spoil?: (database: Database) => Database;
  /** The build of every second writer, as a process of its own. Absent: all are of this one, and in this process. */
  readonly older?: OlderBuild | undefined;
}

/** How a storm went. */
export interface StormReport {
  readonly weather: Weather;
  /** What was applied after it had been taken back: a line each. */
  readonly broken: readonly string[];
}

/** What has happened, by kind: the outcomes of the writers, and what disturbed them. */
export type Weather = Record<ItemOutcome["outcome"] | "raised" | "recorded" | "terminated" | "takenBack", number>;

/** Returns when every item that was not taken back has its entry, unless the write is wrong, and every sale is in an entry. */
export async function storm(night: Night, { random, itemCount, name, spoil, older }: Storm): Promise<StormReport> {
  const items: Item[] = [];
  while (items.length < itemCount) {
    const businessDate = dates[random.below(dates.length)] ?? "";
    items.push(...(await plan(night, { request: `${name} ${items.length}`, businessDate })));
  }
  const sky = new Sky(night, random);
  {
    await using writers = new AsyncDisposableStack();
    const all = await Promise.all(
      Array.from({ length: writerCount }, async (_, index): Promise<Writer> => {
        if (older !== undefined && index % 2 === 1) return olderWriter(night, `older writer ${index}`, older);
        return localWriter(night, `writer ${index}`, spoil ?? ((database) => database));
      }),
    );
    for (const each of all) writers.use(each);
    await sky.rage(new Deliveries(items, random), all);
  }
  await settle(night, items);
  for (const businessDate of dates) {
    await settle(night, await plan(night, { request: `${name} last ${businessDate}`, businessDate }));
  }
  await night.test.db
    .updateTable("nightwriter.run")
    .set({ finished_at: new Date() })
    .where("cancelled_at", "is", null)
    .execute();
  const broken = await sky.withdrawals.broken();
  return { weather: { ...sky.weather, takenBack: sky.withdrawals.count }, broken };
}

/** Delivers each item again, undisturbed, until it has its entry or is found to be taken back. */
async function settle(night: Night, items: readonly Item[]): Promise<void> {
  const [term] = await readTerms(night.test.database, night.job);
  for (const batch of batches(items, () => night.keys.length)) {
    const outcomes = await apply(night, batch, term);
    const strange = outcomes.find(({ outcome }) => !isSettled(outcome));
    invariant(strange === undefined, `undisturbed: ${toJson(strange, 0)} instead of applied, duplicate or withdrawn`);
  }
}

class Sky {
  readonly #night: Night;
  readonly #random: Randomness;
  readonly #progress = new Progress();
  readonly withdrawals: Withdrawals;
  readonly weather: Omit<Weather, "takenBack"> = {
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
    this.withdrawals = new Withdrawals(night);
  }

  /** Returns when the deliveries are used up, and everybody has stopped. */
  async rage(deliveries: Deliveries, writers: readonly Writer[]): Promise<void> {
    const disturbing = [
      this.#repeat(calm.raise, async () => this.#raise()),
      this.#repeat(calm.terminate, async () => this.#terminate()),
      this.#repeat(calm.withdraw, async () => this.#withdraw(deliveries)),
      ...Array.from({ length: recorderCount }, async () => this.#recordAsRecorder()),
    ];
    const writing = writers.map(async (writer) => this.#write(writer, deliveries));
    const written = Promise.all(writing).finally(() => {
      deliveries.end();
      this.#progress.end();
    });
    await Promise.all([written, ...disturbing]);
  }

  async #write(writer: Writer, deliveries: Deliveries): Promise<void> {
    for (let batch = deliveries.next(); batch !== undefined; batch = deliveries.next()) {
      const outcomes = await writer.write(batch);
      for (const outcome of outcomes ?? []) this.weather[outcome] += 1;
      this.#progress.advance();
      deliveries.answered(
        batch,
        batch.filter((_, place) => !isSettled(outcomes?.[place])),
      );
    }
  }

  async #raise(): Promise<void> {
    const claim = { partition: 0, holder: "storm", nonce: randomUUID() };
    await weatherproof(async () => raiseTerm(this.#night.test.database, this.#night.job, claim));
    this.weather.raised += 1;
  }

  /** Takes back something that is being written: an item, seldom a whole run, or a key for a while. */
  async #withdraw(deliveries: Deliveries): Promise<void> {
    const draw = this.#random.below(8);
    const item = draw === 3 || draw === 4 ? deliveries.someToCome() : deliveries.someInQuestion();
    if (item === undefined) return;
    if (draw === 0) await this.withdrawals.cancel(item);
    else if (draw < 3) await this.withdrawals.park(item);
    else if (draw < 5) await this.withdrawals.parkBehindSlowWrite(item, () => deliveries.first([item]));
    else await this.withdrawals.pause(item, async () => this.#calm(calm.pause));
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

/** A paused key's items come again like those that were withdrawn for good: nobody tells the writer which it is. */
function isSettled(outcome: ItemOutcome["outcome"] | undefined): boolean {
  return outcome === "applied" || outcome === "duplicate" || outcome === "withdrawn";
}
