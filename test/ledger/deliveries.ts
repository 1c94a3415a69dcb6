import type { Item } from "@nightwriter/ledger";
import type { Randomness } from "@nightwriter/testkit";

/** Cuts the items, in their order, into batches of at most `size()` that have no key twice. */
export function* batches(items: readonly Item[], size: () => number): Generator<Item[]> {
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
export class Deliveries {
  readonly #random: Randomness;
  readonly #waiting: Item[][];
  readonly #underWay = new Set<Item[]>();
  #left: number;
  #isOver = false;

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
    const batch = this.#left < 0 ? undefined : this.#waiting.shift();
    if (batch !== undefined) this.#underWay.add(batch);
    return batch;
  }

  /** The batch has its answer; `unsettled` of it come again. */
  answered(batch: Item[], unsettled: Item[]): void {
    this.#underWay.delete(batch);
    if (unsettled.length > 0) this.#waiting.splice(this.#random.below(this.#waiting.length + 1), 0, unsettled);
  }

  /** Nobody takes any more. */
  end(): void {
    this.#isOver = true;
  }

  /** Hands this out next. Answers who asks whether it has been answered, or is not handed out any more. */
  first(batch: Item[]): () => boolean {
    this.#waiting.unshift(batch);
    return () => this.#isOver || (!this.#underWay.has(batch) && (this.#left < 0 || !this.#waiting.includes(batch)));
  }

  /** Some item that is still to come; it may have come before. */
  someToCome(): Item | undefined {
    return this.#waiting[this.#random.below(Math.max(1, this.#waiting.length))]?.at(0);
  }

  /** Some item that a writer is at, or will be at next: whoever takes it back meets the write. */
  someInQuestion(): Item | undefined {
    const items = [...this.#underWay, ...this.#waiting.slice(0, 1)].flat();
    return items[this.#random.below(Math.max(1, items.length))];
  }
}
