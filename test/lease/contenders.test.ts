import { type LeaseStore, openPostgresLeases } from "@nightwriter/lease";
import { testDatabase } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { contend } from "./contenders.ts";

/** A store that takes a lease away from whoever has it, as one does that forgets. */
function forgetting(store: LeaseStore): LeaseStore {
  const forget = async (name: string): Promise<void> => {
    for (const sight of (await store.find([name])).values()) await store.release([{ name, ...sight }]);
  };
  return { ...store, acquire: async (claim) => (await forget(claim.name), store.acquire(claim)) };
}

describe("contend", () => {
  it("finds out a store that grants what somebody has", async () => {
    await using test = await testDatabase();
    const options = { url: test.url, prefix: "test", ttlMs: 9_000, applicationName: "leases of a test" };
    const contest = await contend(async () => forgetting(await openPostgresLeases(options)), { terms: 30 });
    expect(contest.twoAtOnce).not.toEqual([]);
    expect(contest.counter).toBeLessThan(contest.moves);
  });
});
