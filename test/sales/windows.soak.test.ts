/**
 * Orders of a shop, in files as its exports have them: windows in any order, corrected, voided, filtered, mended, half-written, taken back. A model
 * knows what each file says when it is imported; whatever happens, the sales come to what the model has, or the import is refused as the
 * model expects, and its advice leads there.
 */
import { rm } from "node:fs/promises";
import { ImportFault, type ImportOptions, importSales } from "@nightwriter/sales";
import type { Acceptance } from "@nightwriter/sales/acceptances";
import { undoImport } from "@nightwriter/sales/imports";
import { type TestDatabase, testDatabase } from "@nightwriter/testkit";
import fc from "fast-check";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { type Folder, optionsOf, temporaryFolder, total } from "./fixture.ts";

interface Order {
  readonly id: string;
  readonly minute: number;
  amount: number;
  isVoid: boolean;
}

/** What a file makes of the orders in it. */
interface Imported {
  readonly id: bigint;
  /** What each order of the file came to before and after. */
  readonly changes: ReadonlyMap<string, readonly [number | undefined, number | undefined]>;
  isInForce: boolean;
}

type Action =
  | { readonly kind: "sell"; readonly amounts: readonly number[] }
  | { readonly kind: "change"; readonly at: number; readonly by: number }
  | { readonly kind: "void"; readonly at: number }
  | {
      readonly kind: "export";
      readonly from: number;
      readonly count: number;
      readonly order: number;
      readonly how: "whole" | "half" | "bad";
    }
  | { readonly kind: "undo"; readonly at: number };

const amount = fc.integer({ min: -500, max: 5_000 }).filter((minor) => minor !== 0);
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("sell" as const),
      amounts: fc.array(amount, { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("change" as const), at: fc.nat(), by: amount }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("void" as const), at: fc.nat() }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("export" as const),
      from: fc.nat(),
      count: fc.integer({ min: 1, max: 12 }),
      order: fc.nat(),
      how: fc.constantFrom("whole" as const, "whole" as const, "half" as const, "bad" as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("undo" as const), at: fc.nat() }) },
);

/** Whatever a current export is asked about is meant. */
const meant: ReadonlySet<Acceptance> = new Set(["older", "take-back", "unseen-ok"]);

class Shop {
  readonly #test: TestDatabase;
  readonly #folder: Folder;
  readonly #orders: Order[] = [];
  /** What is recorded of each order that was in a file: undefined or absent, nothing. */
  readonly #recorded = new Map<string, number | undefined>();
  readonly #imports: Imported[] = [];
  #files = 0;

  constructor(test: TestDatabase, folder: Folder) {
    this.#test = test;
    this.#folder = folder;
  }

  get expected(): number {
    return [...this.#recorded.values()].reduce<number>((sum, minor) => sum + (minor ?? 0), 0);
  }

  async act(act: Action): Promise<void> {
    if (act.kind === "sell") this.#sell(act.amounts);
    if (act.kind === "export") await this.#export(act);
    if (act.kind === "undo") await this.#undo(act.at);
    const order = "at" in act ? this.#orders[act.at % Math.max(1, this.#orders.length)] : undefined;
    if (act.kind === "change" && order !== undefined) order.amount += act.by;
    if (act.kind === "void" && order !== undefined) order.isVoid = true;
  }

  #sell(amounts: readonly number[]): void {
    for (const minor of amounts) {
      const index = this.#orders.length;
      this.#orders.push({ id: `#${1_000 + index}`, minute: index * 97, amount: minor, isVoid: false });
    }
  }

  async #export({ from, count, order, how }: Extract<Action, { kind: "export" }>): Promise<void> {
    const start = from % Math.max(1, this.#orders.length);
    const window = this.#orders.slice(start, start + count);
    if (window.length === 0) return;
    const lines = window.toSorted(
      (one, other) => ((one.minute * (order + 7)) % 1_009) - ((other.minute * (order + 7)) % 1_009),
    );
    const last = lines.at(-1);
    const name = `export-${++this.#files}.csv`;
    if (how === "bad" && last !== undefined && !last.isVoid) await this.#import(name, lines, { bad: last });
    // A line that lost its end says less, or nothing.
    if (how === "half" && last !== undefined) await this.#import(name, lines, { half: true });
    await this.#import(name, lines, {});
  }

  async #import(
    name: string,
    lines: readonly Order[],
    { bad, half = false }: { bad?: Order; half?: boolean },
  ): Promise<void> {
    const texts = lines.map(
      (each) =>
        `${each.id},${each.isVoid ? "void" : "paid"},${timeOf(each)},${moneyOf(each === bad ? "x" : each.amount)}`,
    );
    const whole = `id,status,date,amount\n${texts.join("\n")}`;
    const content = half ? whole.slice(0, -1) : `${whole}\n`;
    const skipBad = this.#folder.path("bad.csv");
    await rm(skipBad, { force: true });
    const options: ImportOptions = optionsOf(await this.#folder.write(name, content), {
      date: { column: "date", format: "yyyy-MM-dd HH:mm" },
      idColumns: ["id"],
      except: [{ column: "status", value: "void" }],
      accept: meant,
      skipBad,
    });
    const result = await importSales(this.#test.database, options);
    if (result.outcome === "duplicate" || result.id === undefined) return;
    const changes = new Map<string, readonly [number | undefined, number | undefined]>();
    const kept = lines.filter((each) => !each.isVoid && each !== bad);
    for (const each of lines) {
      const before = this.#recorded.get(each.id);
      if (each === bad) continue;
      const isTaken = each.isVoid && kept.length > 0;
      const now = each.isVoid
        ? isTaken
          ? undefined
          : before
        : half && each === lines.at(-1)
          ? Math.trunc(each.amount / 10) * 10
          : each.amount;
      changes.set(each.id, [before, now]);
      this.#recorded.set(each.id, now);
    }
    this.#imports.push({ id: result.id, changes, isInForce: true });
  }

  async #undo(at: number): Promise<void> {
    const index = at % Math.max(1, this.#imports.length);
    const undone = this.#imports[index];
    if (undone === undefined || !undone.isInForce) return;
    const later = this.#imports.slice(index + 1).filter((each) => each.isInForce);
    const isShared = later.some(({ changes }) => [...changes.keys()].some((id) => undone.changes.has(id)));
    try {
      await undoImport(this.#test.database, { id: undone.id, actor: { name: "ann", host: "here" }, reason: "wrong" });
    } catch (error) {
      if (!(error instanceof ImportFault) || error.code !== "import_needed") throw error;
      expect(isShared).toBe(true);
      return;
    }
    undone.isInForce = false;
    for (const [id, [before, now]] of undone.changes)
      if (this.#recorded.get(id) === now) this.#recorded.set(id, before);
  }
}

function timeOf({ minute }: Order): string {
  return new Date(Date.UTC(2026, 2, 1) + minute * 60_000).toISOString().slice(0, 16).replace("T", " ");
}

function moneyOf(minor: number | string): string {
  return typeof minor === "string" ? minor : (minor / 100).toFixed(2);
}

/** Every sale with an id is what its rows come to. */
async function unequal({ db }: TestDatabase): Promise<unknown[]> {
  const { rows } = await sql`
    select hash from (select distinct on (hash) * from sales.identity order by hash, import_id desc) as now
    where amount_minor is distinct from (
      select sum(amount_minor) from sales.sale
      where (coalesce(first_date, business_date), coalesce(first_source, source), coalesce(first_line, source_line))
        = (now.first_date, now.first_source, now.first_line))`.execute(db);
  return rows;
}

it("exports with ids come to what the model has, whatever happens to them", { timeout: 3_600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 24 }), async (actions) => {
      await using test = await testDatabase();
      await using folder = await temporaryFolder();
      const shop = new Shop(test, folder);
      for (const [step, act] of actions.entries()) {
        await shop.act(act);
        expect({ step, total: await total(test) }).toEqual({ step, total: shop.expected });
      }
      expect(await unequal(test)).toEqual([]);
    }),
    { numRuns: Number(process.env["RUNS"] ?? 100) },
  );
});
