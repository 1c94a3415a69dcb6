/**
 * A missing fence is seen afterwards. Each part of it is taken out of the shipped statement, which then writes under a term that has
 * ended: the total is right all the same, and verify names the entry. What the database itself keeps out is shown to be kept out.
 */
import { systemClock } from "@nightwriter/core";
import { openDatabase } from "@nightwriter/database";
import { type Violation, verify } from "@nightwriter/ledger";
import { raiseTerm, sealTerm } from "@nightwriter/partition";
import { bothPostgres, heldBack } from "@nightwriter/testkit";
import { describe, expect, test } from "vitest";
import { books, lockWaiters, type Night, openNight, plan, write, writeText } from "./night.ts";

type Mutation = readonly [RegExp, string];

// What is no longer compared stays a parameter of the statement.
const token: Mutation = [/ and "fencing_token" = (\$\d+::bigint)/, " and $1 is not null"];
const nonce: Mutation = [/ and "nonce" = (\$\d+::uuid)/, " and $1 is not null"];
const rowToken: Mutation = [/ and "it"\."fencing_token" <= "term"\."fencing_token"/, ""];
const lock: Mutation = [/(from "nightwriter"\."partition_term" .*?) for share/, "$1"];

async function violations({ test: { url }, job }: Night): Promise<readonly Violation[]> {
  await using database = openDatabase({ url, applicationName: "verify", statementTimeoutMs: 0 });
  const { rules } = await verify(database, job, { now: systemClock.now() });
  return rules.flatMap((rule) => rule.violations);
}

/** Writes under the term that `end` has ended meanwhile; returns how many entries there are of it. */
async function writeLate(
  night: Night,
  end: (night: Night) => Promise<unknown>,
  ...mutations: Mutation[]
): Promise<number> {
  const items = await plan(night, { request: crypto.randomUUID() });
  await end(night);
  const text = writeText(night, ...mutations);
  return night.test.database.session(async (session) => (await write(night, { session, items, text })).length);
}

const raise = async ({ test: { database }, job }: Night): Promise<unknown> =>
  raiseTerm(database, job, { partition: 0, holder: "another", nonce: crypto.randomUUID() });
const seal = async ({ test: { database }, job, term }: Night): Promise<unknown> => sealTerm(database, job, term);
/** As a lock store that forgot would have it: the same token, and only the nonce tells the terms apart. */
const sameToken = async ({ test: { db } }: Night): Promise<unknown> =>
  db.updateTable("nightwriter.partition_term").set({ nonce: crypto.randomUUID() }).execute();

const ends = { raise, seal, sameToken };

describe.each(bothPostgres)("a write without its fence on PostgreSQL %s", (server) => {
  describe.each(Object.entries(ends))("after %s", (_how, end) => {
    test.each([
      { missing: "token and nonce", mutations: [token, nonce] },
      { missing: "token, nonce and the row's token", mutations: [token, nonce, rowToken] },
    ])("is found when it has lost $missing", async ({ mutations }) => {
      await using night = await openNight(server);
      expect(await writeLate(night, end, ...mutations)).toBe(1);
      expect(await books(night)).toMatchObject({ total: 1_120n });
      expect(await violations(night)).toMatchObject([
        { rule: "total-row", measure: "fencing_token" },
        { rule: "within-term", key: "r0001", version: 2n, measure: "xid" },
      ]);
    });

    test("writes nothing while one of token and nonce is compared, whatever else it has lost", async () => {
      await using night = await openNight(server);
      for (const mutations of [[], [nonce], [token], [rowToken], [nonce, rowToken], [token, rowToken]]) {
        expect(await writeLate(night, end, ...mutations)).toBe(0);
      }
      expect(await violations(night)).toEqual([]);
    });
  });

  test("is found when it does not lock its term: the raise does not wait for it", async () => {
    await using night = await openNight(server);
    const { database } = night.test;
    const items = await plan(night, { request: "late" });
    await using key = await heldBack(database);
    await key.run("select from nightwriter.key_total for update");
    const text = writeText(night, lock);
    const writing = database.session(async (session) => write(night, { session, items, text }));
    await lockWaiters(night);
    await raise(night);
    await key.rollback();
    expect(await writing).toHaveLength(1);
    const found = await violations(night);
    expect(found.filter(({ rule }) => rule === "within-term")).toMatchObject([
      { key: "r0001", version: 2n, measure: "xid" },
    ]);
  });
});
