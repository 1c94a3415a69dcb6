import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@nightwriter/database";
import { ensureServer, type PostgresOptions, ServicesFault, startPostgres } from "@nightwriter/services";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";

const QUICK = { settings: { fsync: "off" } } as const satisfies PostgresOptions;

interface TestFolder extends AsyncDisposable {
  readonly path: string;
}

async function testFolder(): Promise<TestFolder> {
  const path = await mkdtemp(join(tmpdir(), "nightwriter-test-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

async function ask<Row>(url: string, question: ReturnType<typeof sql<Row>>): Promise<readonly Row[]> {
  await using database = openDatabase({ url, applicationName: "services test", max: 1 });
  return (await question.execute(database.db)).rows;
}

describe("startPostgres", () => {
  test("starts version 18, durable, in UTF-8, sorted by code point, on loopback, for 200", async () => {
    await using postgres = await startPostgres();
    const [facts] = await ask(
      postgres.url,
      sql<object>`select current_setting('server_version_num')::int / 10000 as major,
        current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
        current_setting('max_connections') as connections, current_setting('server_encoding') as encoding,
        current_setting('timezone') as zone, current_setting('listen_addresses') as addresses,
        array(select word from unnest(array['é', 'a', 'Z']) word order by word) as sorted, upper('é') as upper`,
    );
    expect(facts).toEqual({
      major: 18,
      fsync: "on",
      commit: "on",
      connections: "200",
      encoding: "UTF8",
      zone: "UTC",
      addresses: "127.0.0.1",
      sorted: ["Z", "a", "é"],
      upper: "É",
    });
    expect((await stat(`/proc/${postgres.pid}`)).uid).not.toBe(0);
  });

  test("starts version 15 from Debian's programs", async () => {
    await using postgres = await startPostgres({ ...QUICK, binDir: await ensureServer("postgres-15") });
    expect(postgres.major).toBe(15);
    const rows = await ask(postgres.url, sql<object>`select upper('é') as upper, version() as version`);
    expect(rows).toEqual([{ upper: "É", version: expect.stringMatching(/^PostgreSQL 15\./) }]);
  });

  test("refuses whoever does not know the password", async () => {
    await using postgres = await startPostgres(QUICK);
    const url = new URL(postgres.url);
    url.password = "guess";
    await expect(ask(url.href, sql`select 1`)).rejects.toThrow(/password authentication failed/);
  });

  test("removes a temporary folder with the server", async () => {
    const postgres = await startPostgres(QUICK);
    await postgres.stop();
    expect(existsSync(postgres.dataDir)).toBe(false);
    expect(existsSync(`/proc/${postgres.pid}/cwd`)).toBe(false);
  });

  test.each(["fast", "immediate"] as const)(
    "keeps what was committed in a folder that stays, after %s",
    async (mode) => {
      await using folder = await testFolder();
      const first = await startPostgres({ dataDir: folder.path });
      await ask(first.url, sql`create table kept as select 42 as answer`);
      await first.stop({ mode });
      await using second = await startPostgres({ dataDir: folder.path, port: first.port });
      expect(second.url).toBe(first.url);
      expect(await ask(second.url, sql`select answer from kept`)).toEqual([{ answer: 42 }]);
    },
  );

  test("ends though it is stopped by a signal", async () => {
    await using postgres = await startPostgres(QUICK);
    process.kill(postgres.pid, "SIGSTOP");
    await postgres.stop();
    expect(await postgres.exited).toEqual({ code: 0, signal: null });
  });

  test("tells of a server that ended by itself", async () => {
    await using postgres = await startPostgres(QUICK);
    process.kill(postgres.pid, "SIGKILL");
    expect(await postgres.exited).toEqual({ code: null, signal: "SIGKILL" });
  });

  test("starts on a folder whose lock file names a pid that is somebody else's by now", async () => {
    await using folder = await testFolder();
    const before = await startPostgres({ ...QUICK, dataDir: folder.path });
    const lockFile = join(folder.path, "cluster/postmaster.pid");
    const lock = await readFile(lockFile, "utf8");
    await before.stop({ mode: "immediate" });
    const { uid, gid } = await stat(join(folder.path, "cluster"));
    const somebodyElse = spawn("sleep", ["60"], { uid, gid, cwd: "/" });
    try {
      await writeFile(lockFile, lock.replace(/^\d+/, String(somebodyElse.pid)));
      await chmod(lockFile, 0o644);
      await using after = await startPostgres({ ...QUICK, dataDir: folder.path });
      expect(await ask(after.url, sql`select 1 as one`)).toEqual([{ one: 1 }]);
    } finally {
      somebodyElse.kill();
      await once(somebodyElse, "exit");
    }
  });

  test("starts one server of two on the same new folder", async () => {
    await using folder = await testFolder();
    const starts = await Promise.allSettled([1, 2].map(() => startPostgres({ ...QUICK, dataDir: folder.path })));
    const started = starts.filter((start) => start.status === "fulfilled");
    await Promise.all(started.map(({ value }) => value.stop()));
    expect(starts.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  test("refuses a folder that another server works in", async () => {
    await using folder = await testFolder();
    await using running = await startPostgres({ ...QUICK, dataDir: folder.path });
    await expect(startPostgres({ ...QUICK, dataDir: folder.path })).rejects.toMatchObject({
      code: "folder-in-use",
      message: expect.stringContaining(`pid ${running.pid}`),
    });
  });

  test("refuses a folder of another major version", async () => {
    await using folder = await testFolder();
    const older = await startPostgres({ ...QUICK, dataDir: folder.path, binDir: await ensureServer("postgres-15") });
    await older.stop();
    await expect(startPostgres({ ...QUICK, dataDir: folder.path })).rejects.toMatchObject({
      code: "other-major-version",
      message: expect.stringMatching(/made by PostgreSQL 15, .* are 18/),
    });
  });

  test("as root refuses a folder that the server's user cannot reach, and otherwise uses it", async () => {
    await using closed = await testFolder();
    const dataDir = join(closed.path, "data");
    await mkdir(dataDir);
    const outcome = await startPostgres({ ...QUICK, dataDir }).then(
      async (postgres) => postgres.stop(),
      (error: unknown) => error,
    );
    const details = outcome instanceof ServicesFault ? outcome.details : undefined;
    expect(details).toEqual(process.getuid?.() === 0 ? { folder: dataDir, closed: closed.path } : undefined);
  });

  test("does not go to another port than it is told", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const address = other.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await expect(startPostgres({ ...QUICK, port })).rejects.toMatchObject({
      code: "did-not-start",
      message: expect.stringContaining("Address already in use"),
    });
    other.close();
    await once(other, "close");
  });

  test("shows the server's own words when a setting is wrong", async () => {
    await expect(startPostgres({ settings: { work_mem: "much" } })).rejects.toMatchObject({
      code: "did-not-start",
      message: expect.stringContaining("invalid value for parameter"),
    });
  });

  test("never runs without synchronous commit", async () => {
    await expect(startPostgres({ settings: { synchronous_commit: "off" } })).rejects.toThrow(/survive a crash/);
  });
});
