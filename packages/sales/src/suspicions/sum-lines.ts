/**
 * A line whose amount is the sum of others is most likely their total, and would count them twice. That is said of a restaurant that no other
 * line has, if it comes to all lines before it, or to those of the restaurant or the day before it; and of the last or the first line,
 * if it comes to all others and has no id, date or time of its own. Elsewhere it would be an accident: the lines of one order often are like that.
 */

/** A sale, as far as it matters here. */
export interface SummedLine {
  readonly line: number;
  readonly restaurant: string;
  readonly day: number;
  readonly wallMs: number;
  readonly amountMinor: bigint;
}

export interface SumLine extends SummedLine {
  /** Of how many lines it is the sum. */
  readonly of: number;
}

interface Run {
  key: string | number;
  count: number;
  sum: number;
}

/** For a file of more restaurants nothing is looked for: their number must not fill the memory. */
const maxRestaurants = 50_000;
const maxFound = 100;
const dayMs = 86_400_000;

/** A million lines pass here: what is kept of each is changed in place. */
interface Counter {
  lines: number;
}

export class SumLines {
  readonly #hasIds: boolean;
  readonly #hasTime: boolean;
  readonly #linesOf = new Map<string, Counter>();
  /** Of restaurants that had no line before. */
  readonly #found: SumLine[] = [];
  readonly #whole: Run = { key: "", count: 0, sum: 0 };
  readonly #ofRestaurant: Run = { key: "", count: 0, sum: 0 };
  readonly #ofDay: Run = { key: Number.NaN, count: 0, sum: 0 };
  #first: SummedLine | undefined;
  #isFirstBare = false;
  #last: SummedLine | undefined;
  #isLastBare = false;
  #isOff = false;

  constructor({ hasIds, hasTime }: { readonly hasIds: boolean; readonly hasTime: boolean }) {
    this.#hasIds = hasIds;
    this.#hasTime = hasTime;
  }

  take(sale: SummedLine): void {
    // Lines without an amount are part of any sum, and would make two lines out of one.
    if (this.#isOff || sale.amountMinor === 0n) return;
    const { restaurant, day, wallMs } = sale;
    const minor = Number(sale.amountMinor);
    const counter = this.#linesOf.get(restaurant);
    if (counter === undefined) this.#linesOf.set(restaurant, { lines: 1 });
    else counter.lines += 1;
    const isShared = wallMs === this.#last?.wallMs;
    this.#isLastBare = !this.#hasIds && (isShared || (this.#hasTime && wallMs % dayMs === 0));
    // Whether the first line has a date of its own is known by the second.
    if (this.#first === this.#last && isShared) this.#isFirstBare = !this.#hasIds;
    this.#last = sale;
    if (this.#first === undefined) {
      this.#first = sale;
      this.#isFirstBare = this.#isLastBare;
    }
    const of = counter === undefined && this.#found.length < maxFound ? this.#isSumOf(minor) : 0;
    if (of > 0) {
      this.#found.push({ ...sale, of });
    } else {
      add(this.#whole, "", minor);
      add(this.#ofRestaurant, restaurant, minor);
      add(this.#ofDay, day, minor);
    }
    if (this.#linesOf.size > maxRestaurants) this.#giveUp();
  }

  /** After the last line. */
  get found(): readonly SumLine[] {
    const isAlone = ({ restaurant }: SummedLine): boolean => this.#linesOf.get(restaurant)?.lines === 1;
    const sums = this.#found.filter(isAlone);
    const others = this.#found.filter((line) => !isAlone(line));
    const count = this.#whole.count + others.length;
    const whole = others.reduce((sum, { amountMinor }) => sum + Number(amountMinor), this.#whole.sum);
    const ends = [
      { sale: this.#first, isBare: this.#isFirstBare },
      { sale: this.#last, isBare: this.#isLastBare },
    ];
    const found = ends.flatMap(({ sale, isBare }) =>
      sale !== undefined && count > 2 && Number(sale.amountMinor) * 2 === whole && (isBare || isAlone(sale))
        ? [{ ...sale, of: count - 1 }]
        : [],
    );
    return [...found.slice(0, 1), ...sums.filter(({ line }) => line !== found[0]?.line)];
  }

  #isSumOf(minor: number): number {
    for (const { count, sum } of [this.#whole, this.#ofRestaurant, this.#ofDay]) {
      if (count > 1 && sum === minor) return count;
    }
    return 0;
  }

  #giveUp(): void {
    this.#isOff = true;
    this.#linesOf.clear();
    this.#found.length = 0;
    this.#first = undefined;
    this.#last = undefined;
  }
}

function add(run: Run, key: string | number, minor: number): void {
  if (run.key !== key) {
    run.key = key;
    run.count = 0;
    run.sum = 0;
  }
  run.count += 1;
  run.sum += minor;
}
