/** The claim in both queues, and what a process concludes from what it finds there. */
import { type Logger, silentLogger, systemClock } from "@nightwriter/core";
import { migrateToLatest } from "@nightwriter/database";
import {
  type ClaimSlot,
  createClaimant,
  currentInstallation,
  findClaim,
  forkInstallation,
  takeOver,
} from "@nightwriter/installation";
import { connectQueues, type Queues } from "@nightwriter/queue";
import { bothPostgres, bothQueues, type TestQueue, testDatabase, testQueue } from "@nightwriter/testkit";
import { Redis } from "ioredis";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { claimantOf, holdClaimSlot, one, other } from "./claim-slot-contract.ts";

async function connect(queue: Pick<TestQueue, "prefix" | "url">): Promise<Queues> {
  return connectQueues({ url: queue.url, prefix: queue.prefix, applicationName: "test" });
}

describe.each(bothQueues)("the claim of a queue in %s", (store) => {
  let queue: TestQueue;
  beforeAll(async () => {
    queue = await testQueue(store);
  });
  afterAll(async () => queue[Symbol.asyncDispose]());
  holdClaimSlot(async (prefix) => {
    const queues = await connect({ url: queue.url, prefix: `${queue.prefix}${prefix}` });
    return { slot: queues.claimSlot, [Symbol.asyncDispose]: () => queues.close() };
  });
});

describe("a store that has forgotten the claim", () => {
  interface Flushed extends AsyncDisposable {
    readonly slot: ClaimSlot;
    readonly forget: () => Promise<void>;
  }
  async function flushable(): Promise<Flushed> {
    const queue = await testQueue("redis");
    const queues = await connect(queue);
    const redis = new Redis(queue.url);
    return {
      slot: queues.claimSlot,
      forget: async () => void (await redis.del(`${queue.prefix}:claim`)),
      async [Symbol.asyncDispose]() {
        await redis.quit();
        await queues.close();
        await queue[Symbol.asyncDispose]();
      },
    };
  }
  function talkative(): { readonly said: string[]; readonly logger: Logger } {
    const said: string[] = [];
    return { said, logger: { ...silentLogger, warn: (_fields, message = "") => void said.push(message) } };
  }

  test("gets it again as old as it was from whoever of the installation looks first", async () => {
    await using flushed = await flushable();
    const { slot } = flushed;
    const { said, logger } = talkative();
    const options = { installation: one, prefix: "p", slots: [slot], by: "a", clock: systemClock, logger };
    const process = createClaimant(options);
    await process.look();
    const claim = await findClaim(slot);
    await flushed.forget();
    await process.look();
    expect(await findClaim(slot)).toMatchObject({ since: claim?.since, takes: 0 });
    expect(said).toEqual([expect.stringMatching(/^claim set again/)]);
    await expect(claimantOf(other, slot).look()).rejects.toMatchObject({ code: "prefix_claimed" });
  });

  test("lets nobody slip in: who came after the forgetting is refused at the next look, who was there is not", async () => {
    await using flushed = await flushable();
    const { slot } = flushed;
    const { said, logger } = talkative();
    const there = createClaimant({
      installation: one,
      prefix: "p",
      slots: [slot],
      by: "a",
      clock: systemClock,
      logger,
    });
    await there.look();
    await flushed.forget();
    const late = claimantOf(other, slot);
    await late.look();
    await there.look();
    expect(said).toEqual([expect.stringMatching(/^claim taken back/)]);
    await expect(late.look()).rejects.toMatchObject({ code: "prefix_claimed", details: { claimedBy: one.id } });
    await there.look();
  });

  test("lets nobody slip in between the look and the change of who was there", async () => {
    await using flushed = await flushable();
    let slip: (() => Promise<void>) | undefined;
    const slot: ClaimSlot = {
      ...flushed.slot,
      async replace(before, text) {
        await slip?.();
        return flushed.slot.replace(before, text);
      },
    };
    const there = claimantOf(one, slot);
    await there.look();
    await flushed.forget();
    slip = async () => {
      slip = undefined;
      await claimantOf(other, flushed.slot).look();
    };
    await there.look();
    expect(await findClaim(flushed.slot)).toMatchObject({ installation: one.id });
  });

  test("gives nothing back to an installation from which it was taken by hand, also after two more flushes", async () => {
    await using flushed = await flushable();
    const { slot } = flushed;
    const [former, now] = [claimantOf(one, slot), claimantOf(other, slot)];
    await former.look();
    await takeOver(slot, other, { by: "test", now: systemClock.now() });
    await now.look();
    // The former owner was frozen meanwhile, and is the first to find nothing there.
    await flushed.forget();
    await former.look();
    await now.look();
    await expect(former.look()).rejects.toMatchObject({ code: "prefix_claimed" });
    expect(await findClaim(slot)).toMatchObject({ installation: other.id, takes: 1 });
  });

  test("is nobody's to who only looks, and stays so", async () => {
    await using flushed = await flushable();
    await claimantOf(one, flushed.slot).check();
    expect(await flushed.slot.read()).toBeUndefined();
    await claimantOf(one, flushed.slot).look();
    await claimantOf(one, flushed.slot).check();
    await expect(claimantOf(other, flushed.slot).check()).rejects.toMatchObject({ code: "prefix_claimed" });
  });

  test("refuses what it cannot read as a claim of somebody unknown, until it is taken over", async () => {
    await using flushed = await flushable();
    const { slot } = flushed;
    await slot.replace(undefined, "not one of ours");
    await expect(claimantOf(one, slot).look()).rejects.toMatchObject({ details: { claimedBy: "not one of ours" } });
    await takeOver(slot, one, { by: "test", now: systemClock.now() });
    await claimantOf(one, slot).look();
  });
});

describe.each(bothPostgres)("an installation on PostgreSQL %s", (server) => {
  test("is another in a copy of its database within the cluster, and the same on every connection", async () => {
    await using original = await testDatabase({ server });
    await using copy = await testDatabase({ server });
    const { id } = await currentInstallation(original.database);
    expect((await currentInstallation(copy.database)).id).not.toBe(id);
    expect(await currentInstallation(original.database)).toEqual({
      id,
      database: expect.stringMatching(RegExp(`^${original.name} at 127\\.0\\.0\\.1:\\d+$`)),
    });
  });

  test("is another with each epoch, and after a fork, which is written down and leaves the epoch", async () => {
    await using kept = await testDatabase({ server });
    const first = await currentInstallation(kept.database);
    await sql`update nightwriter.epoch set system_identifier = 1`.execute(kept.db);
    expect((await migrateToLatest(kept.database)).epoch).toEqual({ epoch: 2, started: true });
    const second = await currentInstallation(kept.database);
    const actor = { name: "ann", host: "desk" };
    const fork = await forkInstallation(kept.database, { actor, reason: "a copy for the auditors" });
    expect(fork.before).toEqual(second);
    expect(await currentInstallation(kept.database)).toEqual(fork.after);
    expect(new Set([first.id, second.id, fork.after.id]).size).toBe(3);
    const [record] = await kept.db.selectFrom("nightwriter.audit_log").selectAll().execute();
    expect(record).toMatchObject({ verb: "installation fork", actor: "ann", reason: "a copy for the auditors" });
    expect(await kept.db.selectFrom("nightwriter.epoch").select("epoch").execute()).toHaveLength(2);
  });

  test("is not bound to a claim that a dump has brought along into its own database", async () => {
    await using kept = await testDatabase({ server });
    const queues = await connect({ url: kept.url, prefix: "nightwriter" });
    try {
      await claimantOf(other, queues.claimSlot).look();
      // What a restore leaves: the row, written in another place.
      await sql`update nightwriter_queue.meta set field = '1/1' where queue = 'claim'`.execute(kept.db);
      await claimantOf(one, queues.claimSlot).look();
      expect(await findClaim(queues.claimSlot)).toMatchObject({ installation: one.id });
    } finally {
      await queues.close();
    }
  });
});
