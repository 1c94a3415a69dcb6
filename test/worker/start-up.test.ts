import { startRedis } from "@nightwriter/services";
import { type LogLine, spawnApp, type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";

/** Starts a worker that must refuse to; returns the fault that it logged last. */
async function refusal(environment: Readonly<Record<string, string>>): Promise<unknown> {
  await using app = await spawnApp("apps/worker/src/main.ts", { LOG_FORMAT: "json", ...environment });
  expect(await app.exited).toEqual({ code: 1, signal: null });
  const last: LogLine | undefined = app.log.at(-1);
  expect(last).toMatchObject({ level: "fatal" });
  return last?.["err"];
}

const says = (code: string, ...words: string[]): object => ({
  code,
  message: expect.stringMatching(words.map((word) => `(?=[^]*${RegExp.escape(word)})`).join("")),
});

describe("a worker", { timeout: 120_000 }, () => {
  it.each<[string, (test: TestDatabase) => Promise<unknown>, object]>([
    [
      "a database that has no schema",
      ({ db }) => sql`drop schema nightwriter cascade`.execute(db),
      says("schema_missing", "run: nightwriter migrate"),
    ],
    [
      "a schema that is ahead of what it knows",
      ({ db }) =>
        sql`insert into nightwriter.migration (name, timestamp) select 'later-' || i, '' from generate_series(1, 2) i`.execute(
          db,
        ),
      says("schema_ahead", "deploy a newer build"),
    ],
    [
      "data that were restored into another cluster",
      ({ db }) => sql`update nightwriter.epoch set system_identifier = 1`.execute(db),
      says("weather", "run: nightwriter migrate"),
    ],
    [
      "a database where commits are not durable",
      ({ db, name }) => sql`alter database ${sql.id(name)} set synchronous_commit = off`.execute(db),
      says("commit_not_durable", "set synchronous_commit = on"),
    ],
  ])("refuses %s and says what mends it", async (_, spoil, fault) => {
    await using test = await testDatabase();
    await spoil(test);
    expect(await refusal({ DATABASE_URL: test.url })).toMatchObject(fault);
  });

  it("refuses a Redis that may evict keys and says what mends it", async () => {
    await using test = await testDatabase();
    await using redis = await startRedis({ args: ["--maxmemory-policy", "allkeys-lru"] });
    const fault = await refusal({ DATABASE_URL: test.url, QUEUE_URL: redis.url });
    expect(fault).toMatchObject(says("queue_misconfigured", "set maxmemory-policy noeviction"));
  });

  it("refuses settings that are wrong, all in one message, without their passwords", async () => {
    const fault = await refusal({
      DATABASE_URL: "postgres://night:secret@127.0.0.1:1/night",
      QUEUE_URL: "mysql://night:secret@127.0.0.1:1",
      BATCH_SIZE: "201",
    });
    expect(fault).toMatchObject(says("config_invalid", "QUEUE_URL", "BATCH_SIZE", "1 to 200"));
    expect(JSON.stringify(fault)).not.toContain("secret");
  });

  it("exits with 1 when its database is away at the start", async () => {
    const fault = await refusal({ DATABASE_URL: "postgres://night:secret@127.0.0.1:1/night" });
    expect(fault).toMatchObject(says("lost", "ECONNREFUSED"));
  });
});
