/**
 * What every place for a claim must do, held to on a real store. To join: call `holdClaimSlot` within a `describe` of the store; each test takes a prefix
 * of its own. Stores of leases join through their own contract.
 */
import { randomBytes } from "node:crypto";
import { silentLogger, systemClock } from "@nightwriter/core";
import {
  type ClaimSlot,
  createClaimant,
  type Installation,
  InstallationFault,
  takeOver,
} from "@nightwriter/installation";
import { expect, it } from "vitest";

/** A slot that was opened, and how its connection ends. */
export interface OpenedSlot extends AsyncDisposable {
  readonly slot: ClaimSlot;
}

export const one: Installation = { id: "00000000-0000-4000-8000-000000000001", database: "one at 10.0.0.1:5432" };
export const other: Installation = { id: "00000000-0000-4000-8000-000000000002", database: "other at 10.0.0.2:5432" };

/** A process of an installation that claims what is in these slots. */
export function claimantOf(
  installation: Installation,
  ...slots: readonly ClaimSlot[]
): ReturnType<typeof createClaimant> {
  return createClaimant({ installation, prefix: "p", slots, by: "test", clock: systemClock, logger: silentLogger });
}

/** Holds a slot to its port. */
export function holdClaimSlot(open: (prefix: string) => Promise<OpenedSlot>): void {
  const fresh = (): string => `nwtest_${randomBytes(6).toString("hex")}`;

  it("is empty at first, takes one of two first claims, and shows it on every connection", async () => {
    const prefix = fresh();
    await using mine = await open(prefix);
    await using theirs = await open(prefix);
    expect(await mine.slot.read()).toBeUndefined();
    const stood = await Promise.all([mine.slot.replace(undefined, "m"), theirs.slot.replace(undefined, "t")]);
    expect(["m", "t"]).toContain(stood[0]);
    expect(stood[1]).toBe(stood[0]);
    expect(await Promise.all([mine.slot.read(), theirs.slot.read()])).toEqual([stood[0], stood[0]]);
    await using elsewhere = await open(fresh());
    expect(await elsewhere.slot.read()).toBeUndefined();
  });

  it("replaces exactly what was seen, and answers what stands there", async () => {
    await using opened = await open(fresh());
    const { slot } = opened;
    const text = JSON.stringify({ name: "Ünïcode ✓", length: "x".repeat(1_000) });
    expect(await slot.replace("never there", "b")).toBeUndefined();
    expect(await slot.replace(undefined, text)).toBe(text);
    expect(await slot.replace(undefined, "b")).toBe(text);
    expect(await slot.replace(`${text} `, "b")).toBe(text);
    expect(await slot.replace(text, "c")).toBe("c");
    expect(await slot.read()).toBe("c");
  });

  it("keeps a second installation out, in both orders, until the prefix is taken over by hand", async () => {
    await using opened = await open(fresh());
    const { slot } = opened;
    const [first, second] = [claimantOf(one, slot), claimantOf(other, slot)];
    await first.look();
    const fault: unknown = await second.look().catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(InstallationFault);
    expect(fault).toMatchObject({
      code: "prefix_claimed",
      retryable: false,
      message: expect.stringMatching(/one at 10\.0\.0\.1:5432.*other at 10\.0\.0\.2:5432.*QUEUE_PREFIX.*take-over/),
    });
    await first.look();
    await takeOver(slot, other, { by: "test", now: systemClock.now() });
    await second.look();
    await expect(first.look()).rejects.toMatchObject({ code: "prefix_claimed" });
    await expect(claimantOf(one, slot).look()).rejects.toMatchObject({ code: "prefix_claimed" });
  });
}
