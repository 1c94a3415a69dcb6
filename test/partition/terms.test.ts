import { type Job, registerJob } from "@nightwriter/job";
import { PartitionFault, raiseTerm, readTerms, sealTerm, type Term } from "@nightwriter/partition";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import {
  barrier,
  bothPostgres,
  heldBack,
  type PostgresVersion,
  type TestDatabase,
  testDatabase,
} from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";

interface Fixture extends AsyncDisposable {
  readonly test: TestDatabase;
  readonly job: Job;
  raise(partition: number, holder?: string): Promise<Term>;
}

async function openJob(server: PostgresVersion): Promise<Fixture> {
  const test = await testDatabase({ server, max: 12 });
  const job = await registerJob(test.database, { ...restaurantTotals, partitionCount: 4 });
  return {
    test,
    job,
    raise: (partition, holder = "someone") =>
      raiseTerm(test.database, job, { partition, holder, nonce: crypto.randomUUID() }),
    [Symbol.asyncDispose]: () => test[Symbol.asyncDispose](),
  };
}

/** What the guarded write does to the term's row while it is under way. */
const writeInFlight =
  "select 1 from nightwriter.partition_term where job_id = $1 and partition = $2 and fencing_token = $3 and nonce = $4 for share";

describe.each(bothPostgres)("terms on PostgreSQL %s", (server) => {
  describe("raiseTerm", () => {
    it("takes the next token of the job and writes down whose term it is", async () => {
      await using fixture = await openJob(server);
      const nonce = crypto.randomUUID();
      const term = await raiseTerm(fixture.test.database, fixture.job, { partition: 2, holder: "left", nonce });
      expect(term).toEqual({ partition: 2, fencingToken: 5n, nonce });
      expect(await fixture.raise(0)).toMatchObject({ fencingToken: 6n });
      expect((await readTerms(fixture.test.database, fixture.job))[2]).toEqual(term);
      const row = await fixture.test.db
        .selectFrom("nightwriter.partition_term")
        .select(["holder", "sealed_at"])
        .where("partition", "=", 2)
        .executeTakeFirstOrThrow();
      expect(row).toEqual({ holder: "left", sealed_at: null });
    });

    it("waits for a write in flight of the same partition, and shuts the next one out", async () => {
      await using fixture = await openJob(server);
      const { test, job } = fixture;
      const before = await fixture.raise(1);
      await using write = await heldBack(test.database);
      await write.run(writeInFlight, [job.id, 1, before.fencingToken, before.nonce]);
      let raised = false;
      const raising = fixture.raise(1).finally(() => {
        raised = true;
      });
      await write.waitedFor();
      expect(raised).toBe(false);
      await write.commit();
      const after = await raising;
      expect(after.fencingToken).toBeGreaterThan(before.fencingToken);
      const shutOut = await test.database.session((session) =>
        session.query(writeInFlight, [job.id, 1, before.fencingToken, before.nonce]),
      );
      expect(shutOut).toEqual([]);
    });

    it("of another partition does not wait for a write in flight, nor for a raise that does", async () => {
      await using fixture = await openJob(server);
      const { test, job } = fixture;
      const slow = await fixture.raise(0);
      await using write = await heldBack(test.database);
      await write.run(writeInFlight, [job.id, 0, slow.fencingToken, slow.nonce]);
      const waiting = fixture.raise(0);
      await write.waitedFor();
      const others = await Promise.all([1, 2, 3].map((partition) => fixture.raise(partition)));
      expect(others.map(({ partition }) => partition)).toEqual([1, 2, 3]);
      await write.commit();
      const last = await waiting;
      for (const { fencingToken } of others) expect(last.fencingToken).toBeGreaterThan(fencingToken);
    });

    it("hands out each token once, larger at each term of a partition, to 8 contenders at the same time", async () => {
      await using fixture = await openJob(server);
      const { test, job } = fixture;
      const start = barrier(8);
      const rounds = 25;
      const contend = async (contender: number): Promise<Term[]> => {
        await start.arrive();
        const terms: Term[] = [];
        for (let round = 0; round < rounds; round += 1) terms.push(await fixture.raise((contender + round) % 4));
        return terms;
      };
      const all = await Promise.all(Array.from({ length: 8 }, (_, contender) => contend(contender)));
      for (const terms of all) {
        const tokens = terms.map(({ fencingToken }) => fencingToken);
        expect(tokens).toEqual(tokens.toSorted((one, other) => Number(one - other)));
      }
      const tokens = all.flat().map(({ fencingToken }) => fencingToken);
      expect(new Set(tokens).size).toBe(8 * rounds);
      // What stands in the table is the term of each partition that was raised last.
      for (const stored of await readTerms(test.database, job)) {
        const largest = all.flat().filter(({ partition }) => partition === stored.partition);
        expect(largest.toSorted((one, other) => Number(other.fencingToken - one.fencingToken))[0]).toEqual(stored);
      }
    });

    it("refuses a partition that the job does not have, and hands out no token for it", async () => {
      await using fixture = await openJob(server);
      const refusal = await fixture.raise(4).catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(PartitionFault);
      expect(refusal).toMatchObject({ code: "partition_unknown", retryable: true });
      expect(await fixture.raise(3)).toMatchObject({ fencingToken: 5n });
    });
  });

  describe("sealTerm", () => {
    it("waits for the write in flight, after which no write of the term lands, and says when that was", async () => {
      await using fixture = await openJob(server);
      const { test, job } = fixture;
      const term = await fixture.raise(1);
      await using write = await heldBack(test.database);
      await write.run(writeInFlight, [job.id, 1, term.fencingToken, term.nonce]);
      const sealing = sealTerm(test.database, job, term);
      await write.waitedFor();
      await write.commit();
      expect(await sealing).toBe(true);
      const [stored] = (await readTerms(test.database, job)).slice(1);
      expect(stored).toMatchObject({ fencingToken: term.fencingToken + 1n });
      expect(stored?.nonce).not.toBe(term.nonce);
      const row = await test.db
        .selectFrom("nightwriter.partition_term")
        .select(["sealed_at", "since"])
        .where("partition", "=", 1)
        .executeTakeFirstOrThrow();
      expect(row.sealed_at?.getTime()).toBeGreaterThanOrEqual(row.since.getTime());
    });

    it("leaves a term that is not exactly the given one as it is", async () => {
      await using fixture = await openJob(server);
      const { test, job } = fixture;
      const old = await fixture.raise(1);
      const now = await fixture.raise(1);
      expect(await sealTerm(test.database, job, old)).toBe(false);
      expect(await sealTerm(test.database, job, { ...now, nonce: old.nonce })).toBe(false);
      expect((await readTerms(test.database, job))[1]).toEqual(now);
    });

    it("ends with the next raise, under a larger token", async () => {
      await using fixture = await openJob(server);
      const { test, job } = fixture;
      const term = await fixture.raise(1);
      await sealTerm(test.database, job, term);
      const next = await fixture.raise(1);
      expect(next.fencingToken).toBeGreaterThan(term.fencingToken);
      const open = await test.db
        .selectFrom("nightwriter.partition_term")
        .select("partition")
        .where("sealed_at", "is not", null)
        .execute();
      expect(open).toEqual([]);
    });
  });
});
