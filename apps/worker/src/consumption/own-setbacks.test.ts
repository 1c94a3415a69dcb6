import { describe, expect, it } from "vitest";
import { noSetbacks, type OwnSetbacks, setBackAlone, tooSlow } from "./own-setbacks.ts";

/** The setbacks of an item that is alone in its batch: what it met, and how many items had been applied by then. */
function after(...setbacks: readonly (readonly [sqlstate: string, appliedCount: number])[]): OwnSetbacks {
  return setbacks.reduce((own, [sqlstate, appliedCount]) => setBackAlone(own, { sqlstate, appliedCount }), noSetbacks);
}

describe("tooSlow", () => {
  it("is an item after three timeouts between which others were applied", () => {
    expect(tooSlow(after(["57014", 10], ["57014", 11]))).toBeUndefined();
    expect(tooSlow(after(["57014", 10], ["57014", 11], ["57014", 12]))).toMatchObject({ sqlstate: "57014" });
  });

  it("is no item of a slow database, which lets nobody pass", () => {
    const setbacks = Array.from({ length: 1_000 }, () => ["57014", 10] as const);
    expect(tooSlow(after(...setbacks))).toBeUndefined();
    expect(after(...setbacks)).toMatchObject({ count: 1 });
  });

  it("is no item whose row somebody else has locked, however often", () => {
    expect(tooSlow(after(["55P03", 1], ["55P03", 2], ["55P03", 3], ["57014", 4]))).toBeUndefined();
  });
});
