import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { ensureServer } from "@nightwriter/services";
import { mutatedBuild, spawnApp, type TestDatabase, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { beforeAll, describe, expect, it } from "vitest";
import { documentOf, ENTRY, nightwriter, type Ran } from "./fixture.ts";
import { stackFolder } from "./stack-folder.ts";

interface Story {
  readonly scenes: readonly {
    readonly letter: string;
    readonly events: readonly {
      readonly second: number;
      readonly who: string;
      readonly what: string;
      readonly token?: string;
      readonly totalMinor: string;
    }[];
    readonly verdicts: readonly { readonly name: string; readonly found: string; readonly passed: boolean }[];
  }[];
}

/** Second, who, token, and the total in rupees, of each row of the scene's table. */
function rows(ran: Ran, letter: string): readonly (readonly [number, string, string, number])[] {
  const scene = (documentOf(ran) as Story).scenes.find((each) => each.letter === letter);
  return (scene?.events ?? []).map(({ second, who, token = "", totalMinor }) => [
    second,
    who,
    token,
    Number(totalMinor) / 100,
  ]);
}

/** What came out, by the name of what was predicted. */
function findings(ran: Ran, letter: string): Readonly<Record<string, string>> {
  const scene = (documentOf(ran) as Story).scenes.find((each) => each.letter === letter);
  return Object.fromEntries((scene?.verdicts ?? []).map(({ name, found }) => [name, found]));
}

/** Databases that a story has made on the server and not dropped. */
async function leftDatabases({ db }: TestDatabase): Promise<number> {
  const { rows: found } = await sql`select from pg_database where datname like 'nightwriter\_story\_%'`.execute(db);
  return found.length;
}

const exact = { "final total": "45,000", verify: "every rule holds, nothing outstanding" };

beforeAll(async () => {
  for (const server of ["redis", "faketime"] as const) await ensureServer(server);
}, 300_000);

describe("nightwriter story", { timeout: 400_000 }, () => {
  it("plays all scenes, each with the lesson's numbers, and leaves nothing behind", async () => {
    await using test = await testDatabase();
    await using folder = await stackFolder();
    const ran = await nightwriter(["story", "--json"], { DATABASE_URL: test.url, TMPDIR: folder.path });
    expect(ran.code, ran.stderr).toBe(0);
    expect((documentOf(ran) as Story).scenes.map(({ letter }) => letter).join("")).toBe("abcdefg");

    expect(rows(ran, "a")).toEqual([
      [0, "A", "33", 40_000],
      [5, "A", "", 40_000],
      [8, "A", "", 40_000],
      [10, "A", "", 40_000],
      [30, "lease store", "", 40_000],
      [31, "B", "34", 40_000],
      [31, "B", "", 40_000],
      [33, "B", "34", 43_000],
      [55, "A", "33", 42_000],
    ]);
    expect(findings(ran, "a")).toEqual({
      "tokens of A and B": "33, 34",
      "A and B read": "40,000, 40,000",
      "A's lease when it checks": "22 s left",
      "final total": "42,000",
      "true total": "45,000",
      lost: "3,000",
      "what A and B were told": "1 row, 1 row",
      "verify, the only one to notice": "violated: total-row",
    });

    expect(rows(ran, "b")).toEqual([
      [0, "A", "33", 40_000],
      [5, "A", "", 40_000],
      [8, "A", "", 40_000],
      [10, "A", "", 40_000],
      [30, "lease store", "", 40_000],
      [31, "B", "34", 40_000],
      [31, "B", "", 40_000],
      [33, "B", "34", 43_000],
      [34, "B", "", 43_000],
      [55, "A", "33", 43_000],
      [56, "A", "35", 43_000],
      [56, "A", "", 43_000],
      [57, "A", "35", 45_000],
    ]);
    expect(findings(ran, "b")).toMatchObject({ "A's late write": "33 < 34, 0 rows", ...exact });

    expect(rows(ran, "c").map(([second, , , total]) => [second, total])).toEqual([
      [0, 42_000],
      [0, 42_000],
      [1, 45_000],
      [1, 45_000],
    ]);
    expect(findings(ran, "c")).toEqual({
      "+2,000 twice": "applied, duplicate",
      "+3,000 twice": "applied, duplicate",
      "entries besides the opening": "2",
      ...exact,
    });

    for (const letter of ["d", "f"]) {
      expect(rows(ran, letter).filter(([, who]) => who === "A" || who === "B")).toEqual([
        [0, "A", "33", 40_000],
        [6, "B", "34", 40_000],
        [7, "A", "33", 40_000],
        [8, "B", "34", 43_000],
        [9, "B", "34", 45_000],
      ]);
      expect(findings(ran, letter)).toEqual({
        ...(letter === "d" && { "grants on primary, replica": "1, 0" }),
        "tokens of A and B": "33, 34",
        "holders at the same time": "A and B",
        "A's write": "33 < 34, 0 rows",
        ...exact,
      });
    }

    expect(rows(ran, "e")).toEqual([
      [0, "A", "33", 40_000],
      [20, "A", "", 40_000],
      [20, "A", "33", 40_000],
      [30, "lease store", "", 40_000],
      [31, "B", "34", 40_000],
      [33, "B", "34", 43_000],
      [40, "A", "33", 43_000],
      [41, "B", "34", 45_000],
    ]);
    expect(findings(ran, "e")).toEqual({
      "tokens of A and B": "33, 34",
      "A's lease when it sends": "10 s left",
      "what the network had kept": "a whole statement",
      "A's write, 10 s after its lease": "33 < 34, 0 rows",
      ...exact,
    });

    expect(rows(ran, "g").slice(-3)).toEqual([
      [51, "B", "", 43_000],
      [55, "A", "33", 43_000],
      [56, "B", "34", 45_000],
    ]);
    expect(findings(ran, "g")).toMatchObject({ "act as holder at 55 s": "A and B", ...exact });

    expect(await leftDatabases(test)).toBe(0);
    expect(await folder.leftRunning()).toEqual([]);
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("keeps the leases of a and b where LEASE_URL says, and writes nothing into what is there", async () => {
    await using test = await testDatabase();
    const settings = { DATABASE_URL: test.url, LEASE_URL: test.url, PATH: "/nowhere" };
    const ran = await nightwriter(["story", "--scene", "a,b"], settings);
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stdout).toMatch(/55 s +A +wakes, writes 42,000 +33 +42,000\n/);
    expect(ran.stdout).toMatch(/55 s +A +wakes, adds \+2,000: refused, 33 < 34, 0 rows +33 +43,000\n/);
    expect(ran.stdout).toContain("all 14 numbers are as predicted");
    for (const table of ["nightwriter.job", "nightwriter.lease", "sales.restaurant"] as const) {
      expect(await test.db.selectFrom(table).selectAll().execute()).toEqual([]);
    }
  });

  it("ends with 3 and shows which number is wrong when the write does not look at the term", async () => {
    await using test = await testDatabase();
    const build = mutatedBuild(
      {
        file: "packages/ledger/src/guarded-write.ts",
        replace: `.where("fencing_token", "=", fencingToken)`,
        by: `.where("fencing_token", ">=", fencingToken)`,
      },
      {
        file: "packages/ledger/src/guarded-write.ts",
        replace: `.where("nonce", "=", parameter<string>("nonce", "uuid"))`,
        by: `.where((eb) => eb.or([eb("nonce", "=", parameter<string>("nonce", "uuid")), eb.lit(true)]))`,
      },
    );
    const ran = await nightwriter(["story", "--scene", "d"], { DATABASE_URL: test.url, ...build.environment });
    expect(ran.code, ran.stderr).toBe(3);
    expect(ran.stdout).toMatch(/WRONG +A's write +33 < 34, 0 rows +applied\n/);
    expect(ran.stdout).toMatch(/ok +final total +45,000 +45,000\n/);
    // The total is right, and verify says all the same that the fence is gone.
    expect(ran.stdout).toMatch(/WRONG +verify +every rule holds, nothing outstanding +violated: within-term\n/);
    expect(ran.stdout).toContain("2 of 6 numbers are not as predicted");
  });

  it("plays a scene again, slower, when a lease ended in the middle of what takes no time in the story", async () => {
    await using test = await testDatabase();
    const asked = `const left = await Promise.all(writers.map((writer) => writer.ask("check", {})));`;
    const build = mutatedBuild({
      file: "apps/admin/src/story/steps.ts",
      replace: asked,
      by: `await new Promise((resolve) => setTimeout(resolve, 600)); ${asked}`,
    });
    // A lease lasts 500 ms at speed 60, and 2,000 at 15.
    const ran = await nightwriter(["story", "--scene", "f"], { DATABASE_URL: test.url, ...build.environment });
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stderr).toMatch(
      /once more at speed 30: this machine is too busy for this speed: one of two leases ended/,
    );
    expect(ran.stdout).toContain("all 5 numbers are as predicted");
  });

  it("leaves nothing behind after Ctrl-C with a frozen writer, on a server of its own", async () => {
    await using folder = await stackFolder();
    const story = await spawnApp(
      ENTRY,
      { DATABASE_URL: "", LEASE_URL: "", TMPDIR: folder.path },
      { args: ["story", "--speed", "2"] },
    );
    await story.waitForLog(({ msg }) => msg?.includes("freezes for 45 s") === true, 200_000);
    story.signal("SIGINT");
    const end = await story.exited;
    expect(end, story.log.map(({ msg }) => msg).join("\n")).toEqual({ code: 130, signal: null });
    expect(await folder.leftRunning()).toEqual([]);
    expect(await readdir(folder.path)).toEqual([]);
  });

  it("says in one line what to do where the role may make no database", async () => {
    await using test = await testDatabase();
    const role = `nwtest_${randomUUID().replaceAll("-", "")}`;
    await sql`create role ${sql.id(role)} login password 'plain'`.execute(test.db);
    try {
      const url = new URL(test.url);
      [url.username, url.password] = [role, "plain"];
      const { code, stdout, stderr } = await nightwriter(["story", "--scene", "c"], { DATABASE_URL: url.href });
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr.split("\n").at(-1)).toMatch(/^nightwriter: the story: .*grant it CREATEDB, or unset DATABASE_URL/);
    } finally {
      await sql`drop role ${sql.id(role)}`.execute(test.db);
    }
  });

  it("says in one line which scenes cannot be played and what to install where there is no Redis", async () => {
    const { code, stdout, stderr } = await nightwriter(["story"], { PATH: "/nowhere" });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /^nightwriter: scenes a, b, d, e, f, g cannot be played: redis-server: not found .*apt-get install redis-server.*; or play the others: --scene c$/,
    );
  });

  it.each([
    [["--scene", "a,x"], "The scenes are a, b, c, d, e, f, g; see nightwriter story --help"],
    [["--speed", "0"], "Write a number from 1 to 600; see nightwriter story --help"],
    [["--speed", "fast"], "Write a number from 1 to 600; see nightwriter story --help"],
  ])("answers %j in one line and ends with 2", async (args, line) => {
    const { code, stdout, stderr } = await nightwriter(["story", ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(line);
    expect(stderr.split("\n")).toHaveLength(1);
  });
});
