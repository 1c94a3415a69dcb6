/** Which servers are refused at start. */

import { randomUUID } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertServerSupported, type Database, openDatabase } from "@nightwriter/database";
import { startPostgres } from "@nightwriter/services";
import { bothPostgres, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";

async function assertAt(url: string): ReturnType<typeof assertServerSupported> {
  await using database: Database = openDatabase({ url, applicationName: "test", max: 1 });
  return await assertServerSupported(database);
}

describe.each(bothPostgres)("a PostgreSQL %s", (server) => {
  test("is accepted, and says what it is", async () => {
    await using test = await testDatabase({ server });
    const facts = await assertAt(test.url);
    expect(facts).toMatchObject({ inRecovery: false, synchronousCommit: "on", fsync: "off", role: "postgres" });
    expect(Math.trunc(facts.versionNumber / 10_000)).toBe(Number(server));
  });

  test("is refused where a commit of this role does not wait for the disk, by whatever setting", async () => {
    await using test = await testDatabase({ server });
    const database = sql.id(test.name);
    for (const setting of [
      sql`alter database ${database} set synchronous_commit`,
      sql`alter role current_user in database ${database} set synchronous_commit`,
    ]) {
      await sql`${setting} = off`.execute(test.db);
      await expect(assertAt(test.url)).rejects.toMatchObject({
        code: "commit_not_durable",
        message: expect.stringContaining('run: alter role "postgres" set synchronous_commit = on'),
      });
      for (const durable of ["local", "remote_write", "on", "remote_apply"]) {
        await sql`${setting} = ${sql.lit(durable)}`.execute(test.db);
        expect(await assertAt(test.url)).toMatchObject({ synchronousCommit: durable });
      }
    }
  });
});

describe("a server that a crash of its machine can spoil", () => {
  test("is refused with fsync off, unless it says that its data are for nobody", async () => {
    await using server = await startPostgres({ settings: { fsync: "off", "nightwriter.disposable": "off" } });
    await expect(assertAt(server.url)).rejects.toMatchObject({
      code: "data_not_durable",
      message:
        "database: fsync is off, a crash of its machine can lose or spoil what was acknowledged; run: alter system set fsync = on, then: select pg_reload_conf()",
    });
    await using database = openDatabase({ url: server.url, applicationName: "test", max: 1 });
    await sql`alter database postgres set "nightwriter.disposable" = on`.execute(database.db);
    expect(await assertAt(server.url)).toMatchObject({ disposable: true });
  });

  test("is warned of with full_page_writes off, which some file systems make safe", async () => {
    await using server = await startPostgres({
      settings: { full_page_writes: "off", "nightwriter.disposable": "off" },
    });
    await using database = openDatabase({ url: server.url, applicationName: "test", max: 1 });
    const warned: string[] = [];
    await assertServerSupported(database, (text) => void warned.push(text));
    expect(warned).toEqual([expect.stringMatching(/^database: full_page_writes is off, .* run: alter system set/)]);
  });
});

describe("a standby", () => {
  test("is refused, since nothing can be written to it", async () => {
    const folder = join(tmpdir(), `nightwriter-standby-${randomUUID()}`);
    const start = async () => startPostgres({ dataDir: folder, settings: { fsync: "off" } });
    try {
      {
        await using primary = await start();
        expect(await assertAt(primary.url)).toMatchObject({ inRecovery: false });
        await writeFile(join(await dataDirectory(primary.url), "standby.signal"), "");
      }
      // A cluster that was left in order and finds that file comes up as a standby, which waits for what a primary sends.
      await using standby = await start();
      await expect(assertAt(standby.url)).rejects.toMatchObject({
        code: "server_read_only",
        message: expect.stringContaining("point DATABASE_URL at the primary"),
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

async function dataDirectory(url: string): Promise<string> {
  await using database = openDatabase({ url, applicationName: "test", max: 1 });
  const { rows } = await sql<{ folder: string }>`select current_setting('data_directory') as folder`.execute(
    database.db,
  );
  return rows[0]?.folder ?? "";
}
