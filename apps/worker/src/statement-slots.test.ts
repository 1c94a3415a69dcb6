import { describe, expect, it, vi } from "vitest";
import { createStatementSlots } from "./statement-slots.ts";

describe("statementSlots", () => {
  it("lends as many slots as there are, then makes callers wait", async () => {
    const slots = createStatementSlots(2);
    const release = await slots.acquire();
    await slots.acquire();
    const third = slots.acquire();
    const served = vi.fn<() => void>();
    void third.then(served);
    await new Promise(setImmediate);
    expect(served).not.toHaveBeenCalled();
    release();
    await third;
    expect(served).toHaveBeenCalledOnce();
  });

  it("serves callers in the order of their calls, so that a busy one cannot starve the others", async () => {
    const slots = createStatementSlots(1);
    const served: string[] = [];
    const callThreeTimes = async (name: string): Promise<void> => {
      for (let call = 0; call < 3; call += 1) {
        const release = await slots.acquire();
        served.push(name);
        await new Promise(setImmediate);
        release();
      }
    };
    await Promise.all(["a", "b", "c"].map(callThreeTimes));
    expect(served).toEqual(["a", "b", "c", "a", "b", "c", "a", "b", "c"]);
  });

  it("refuses to take a slot back twice", async () => {
    const slots = createStatementSlots(1);
    const release = await slots.acquire();
    release();
    expect(release).toThrow("given back twice");
  });
});
