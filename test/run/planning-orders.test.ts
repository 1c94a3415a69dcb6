/**
 * Nights in any order, over transactions that stay open and writes that hang: whatever happens, one more night brings every pair
 * to what its sales amount to. The seed decides what happens; sales, plans and writes are real.
 */

import { ensureRequestedRun, finishRuns } from "@nightwriter/run";
import { type HeldBack, heldBack, type Randomness, seededRandom } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { allDue, imbalances, type TestJob, testJob } from "./test-job.ts";

const dates = ["2026-03-09", "2026-03-10", "2026-03-11", "2026-03-12", "2026-03-13"];
const lastNight = "2026-03-14";

/** A write that has its snapshot and waits for its key's row. */
interface HangingWrite {
  readonly key: string;
  readonly lock: HeldBack;
  readonly written: Promise<void>;
}

class Story {
  readonly #night: TestJob;
  readonly #random: Randomness;
  readonly #openSales: HeldBack[] = [];
  readonly #hanging: HangingWrite[] = [];
  #requests = 0;
  /** What happened, to be read when it came out wrong. */
  readonly told: string[] = [];

  constructor(night: TestJob, random: Randomness) {
    this.#night = night;
    this.#random = random;
  }

  async next(): Promise<void> {
    const happenings = [
      () => this.#sell(),
      () => this.#sell(),
      () => this.#openSale(),
      () => this.#endSale(),
      () => this.#plan(),
      () => this.#plan(),
      () => this.#apply(),
      () => this.#apply(),
      () => this.#hang(),
      () => this.#letGo(),
      () => this.#park(),
      () => this.#unpark(),
      () => this.#rerun(),
      () => this.#finish(),
    ];
    await this.#pick(happenings)?.();
  }

  /** Everything that is open ends, everything that is due is applied, and one more night comes. */
  async end(): Promise<void> {
    while (this.#openSales.length > 0) await this.#endSale();
    while (this.#hanging.length > 0) await this.#letGo();
    await this.#unpark();
    await this.#night.applyDue();
    await this.#night.plan(lastNight);
    await this.#night.applyDue();
  }

  async #sell(): Promise<void> {
    const sale = this.#sale();
    await using transaction = await heldBack(this.#night.database);
    await transaction.recordSale(sale);
    await transaction.commit();
    this.#tell("sell", sale);
  }

  async #openSale(): Promise<void> {
    if (this.#openSales.length === 3) return;
    const transaction = await heldBack(this.#night.database);
    this.#openSales.push(transaction);
    const sale = this.#sale();
    await transaction.recordSale(sale);
    this.#tell("begin a sale", sale);
  }

  async #endSale(): Promise<void> {
    const transaction = this.#take(this.#openSales);
    if (transaction === undefined) return;
    const commits = this.#random.below(4) > 0;
    await (commits ? transaction.commit() : transaction.rollback());
    this.#tell(commits ? "commit a sale" : "roll a sale back", {});
  }

  async #plan(): Promise<void> {
    const date = this.#pick(dates) ?? "";
    const { planned } = await this.#night.plan(date);
    this.#tell("plan", { date, planned });
  }

  async #apply(): Promise<void> {
    const key = this.#pick(this.#freeKeys());
    if (key === undefined) return;
    await this.#night.applyDue([key]);
    this.#tell("apply", { key });
  }

  async #hang(): Promise<void> {
    const due = await allDue(this.#night.database, this.#night.job);
    const free = this.#freeKeys();
    const key = this.#pick(due.filter((item) => free.includes(item.key)))?.key;
    if (key === undefined || this.#hanging.length === 2) return;
    const lock = await heldBack(this.#night.database);
    await lock.run("select 1 from nightwriter.key_total where key = $1 for update", [key]);
    const written = this.#night.applyDue([key]);
    await Promise.race([lock.waitedFor(), written]);
    this.#hanging.push({ key, lock, written });
    this.#tell("hang", { key });
  }

  async #letGo(): Promise<void> {
    const write = this.#take(this.#hanging);
    if (write === undefined) return;
    await write.lock.commit();
    await write.written;
    this.#tell("let go", { key: write.key });
  }

  async #park(): Promise<void> {
    const due = await allDue(this.#night.database, this.#night.job);
    const free = this.#freeKeys();
    const item = this.#pick(due.filter(({ key }) => free.includes(key)));
    if (item === undefined) return;
    await this.#night.db
      .updateTable("nightwriter.run_item")
      .set({ status: "parked" })
      .where("run_id", "=", BigInt(item.runId))
      .where("key", "=", item.key)
      .where("business_date", "=", item.businessDate)
      .execute();
    this.#tell("park", item);
  }

  /** As the verb must do it: item and run in one transaction. */
  async #unpark(): Promise<void> {
    await this.#night.db.transaction().execute(async (transaction) => {
      const items = await transaction
        .updateTable("nightwriter.run_item")
        .set({ status: "due" })
        .where("status", "=", "parked")
        .returning("run_id")
        .execute();
      for (const { run_id } of items) {
        await transaction.updateTable("nightwriter.run").set({ finished_at: null }).where("id", "=", run_id).execute();
      }
    });
    this.#tell("unpark", {});
  }

  async #rerun(): Promise<void> {
    const planned = await this.#night.db
      .selectFrom("nightwriter.run")
      .select("business_date")
      .where("kind", "=", "nightly")
      .execute();
    const date = this.#pick(planned)?.business_date;
    if (date === undefined) return;
    const requestId = `request ${(this.#requests += 1)}`;
    const businessDate = Temporal.PlainDate.from(date);
    const { database, job } = this.#night;
    const rerun = await ensureRequestedRun(database, job, { kind: "rerun", businessDate, requestId });
    this.#tell("rerun", { date, planned: rerun.planned });
  }

  async #finish(): Promise<void> {
    const finished = await finishRuns(this.#night.database, this.#night.job);
    this.#tell("finish", { runs: finished.length });
  }

  #sale(): { restaurant: string; businessDate: string; amountMinor: number } {
    const restaurant = this.#pick(this.#night.keys) ?? "";
    return { restaurant, businessDate: this.#pick(dates) ?? "", amountMinor: this.#random.below(2_001) - 500 };
  }

  /** Keys that no hanging write holds. */
  #freeKeys(): string[] {
    return this.#night.keys.filter((key) => this.#hanging.every((write) => write.key !== key));
  }

  #pick<Value>(values: readonly Value[]): Value | undefined {
    return values[this.#random.below(values.length)];
  }

  #take<Value>(values: Value[]): Value | undefined {
    return values.splice(this.#random.below(values.length), 1)[0];
  }

  #tell(what: string, facts: object): void {
    this.told.push(`${what} ${JSON.stringify(facts)}`);
  }
}

describe("nights in any order", () => {
  it("leave no pair behind, whatever was open while they were planned and written", async () => {
    const random = seededRandom();
    for (let story = 1; story <= 6; story += 1) {
      await using night = await testJob({ restaurants: 3, max: 12 });
      const tale = new Story(night, random);
      for (let step = 0; step < 60; step += 1) await tale.next();
      await tale.end();
      expect(await imbalances(night.db), tale.told.join("\n")).toEqual([]);
    }
  }, 120_000);
});
