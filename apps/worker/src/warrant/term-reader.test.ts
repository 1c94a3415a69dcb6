import type { Term } from "@nightwriter/partition";
import { describe, expect, it } from "vitest";
import { readTermsOnce } from "./term-reader.ts";

const term = (partition: number, fencingToken: bigint): Term => ({
  partition,
  fencingToken,
  nonce: `n${fencingToken}`,
});

describe("termReader", () => {
  it("hands over the terms as they were read last", async () => {
    let token = 1n;
    const terms = await readTermsOnce(() => Promise.resolve([term(0, token), term(1, token)]));
    token = 2n;
    expect(terms.current(1)).toEqual(term(1, 1n));
    await terms.readAgain(term(1, 1n));
    expect(terms.current(1)).toEqual(term(1, 2n));
  });

  it("reads once for all that were refused at the same time", async () => {
    let reads = 0;
    const terms = await readTermsOnce(() => {
      reads += 1;
      return Promise.resolve([term(0, 1n), term(1, 1n)]);
    });
    await Promise.all([terms.readAgain(term(0, 1n)), terms.readAgain(term(1, 1n)), terms.readAgain(term(0, 1n))]);
    expect(reads).toBe(2);
  });

  it("does not read for a term that is not the current one any more", async () => {
    let reads = 0;
    const terms = await readTermsOnce(() => {
      reads += 1;
      return Promise.resolve([term(0, 5n)]);
    });
    await terms.readAgain(term(0, 4n));
    expect(reads).toBe(1);
  });

  it("keeps the terms it has when it cannot read, and reads at the next call", async () => {
    const answers: (() => Promise<Term[]>)[] = [
      () => Promise.resolve([term(0, 1n)]),
      () => Promise.reject(new Error("away")),
      () => Promise.resolve([term(0, 2n)]),
    ];
    const terms = await readTermsOnce(async () => (await answers.shift()?.()) ?? []);
    await expect(terms.readAgain(term(0, 1n))).rejects.toThrow("away");
    expect(terms.current(0)).toEqual(term(0, 1n));
    await terms.readAgain(term(0, 1n));
    expect(terms.current(0)).toEqual(term(0, 2n));
  });

  it("has no term for a partition that is no more", async () => {
    const answers = [[term(0, 1n), term(1, 1n)], [term(0, 2n)]];
    const terms = await readTermsOnce(async () => answers.shift() ?? []);
    await terms.readAgain(term(1, 1n));
    expect(terms.current(1)).toBeUndefined();
    await terms.readAgain(term(1, 1n));
    expect(terms.current(0)).toEqual(term(0, 2n));
  });
});
