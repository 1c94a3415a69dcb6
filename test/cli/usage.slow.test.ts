import { describe, expect, it } from "vitest";
import { documentOf, importBoth, installation, nightwriter } from "./fixture.ts";

describe("nightwriter", { timeout: 120_000 }, () => {
  it("lists its verbs for --help and for no verb at all, which is wrong usage", async () => {
    const [help, nothing] = [await nightwriter(["--help"]), await nightwriter([])];
    expect([help.code, nothing.code]).toEqual([0, 2]);
    expect(help.stdout).toContain("run a night, or several");
    expect(nothing).toMatchObject({ stdout: "", stderr: expect.stringContaining("run a night, or several") });
  });

  it("answers a mistyped verb in one line that names the nearest", async () => {
    expect(await nightwriter(["verfy"])).toEqual({
      code: 2,
      stdout: "",
      stderr: "nightwriter: unknown command 'verfy' (Did you mean verify?)",
    });
  });

  it("says what is wrong with the settings, every one of them, and shows no password", async () => {
    const { code, stdout, stderr } = await nightwriter(["status", "--json"], {
      QUEUE_URL: "mysql://night:sesame@db/queue",
      BATCH_SIZE: "many",
    });
    expect(code).toBe(1);
    for (const variable of ["DATABASE_URL", "QUEUE_URL", "BATCH_SIZE"]) expect(stderr).toContain(variable);
    expect(stdout + stderr).not.toContain("sesame");
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "config_invalid" } });
  });

  it("says in one line that the database is away, and with --verbose or LOG_LEVEL=debug where that was noticed", async () => {
    const settings = { DATABASE_URL: "postgres://night:sesame@127.0.0.1:1/night" };
    const brief = await nightwriter(["status"], settings);
    expect(brief.code).toBe(1);
    expect(brief.stderr).toMatch(/^nightwriter: database: .*127\.0\.0\.1:1.*$/);
    const long = await nightwriter(["status", "--verbose"], settings);
    expect(long.stderr).toContain("connect-database.ts");
    const debug = await nightwriter(["status"], { ...settings, LOG_LEVEL: "debug" });
    expect(debug.stderr).toContain("connect-database.ts");
    expect(brief.stderr + long.stderr).not.toContain("sesame");
  });

  it("says that the database does not exist, and what makes one", async () => {
    await using made = await installation();
    const url = new URL(made.settings["DATABASE_URL"] ?? "");
    url.pathname = "/nwtest_nowhere";
    const { code, stderr } = await nightwriter(["migrate"], { DATABASE_URL: url.href });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^nightwriter: database nwtest_nowhere: does not exist at .*createdb.*$/);
    expect(stderr).not.toContain(url.password);
  });
});

describe("a verb that cannot be meant", { timeout: 240_000 }, () => {
  it("is refused for what the database knows, in one line with its remedy", async () => {
    await using made = await installation();
    await importBoth(made);
    const refusals: [string[], RegExp][] = [
      [["run", "--date", "2026-03-01", "--restaurant", "Sohoo"], /restaurant Sohoo: unknown \(did you mean Soho\?\)/],
      [["total", "ginzza"], /restaurant ginzza: unknown \(did you mean Ginza\?\)/],
      [["rerun", "--date", "2026-03-01"], /the night of 2026-03-01 was never run/],
    ];
    for (const [args, line] of refusals) {
      const { code, stdout, stderr } = await made.run(...args);
      expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: "" });
      expect(stderr).toMatch(line);
      expect(stderr.split("\n")).toHaveLength(1);
    }
  });
});

describe("nightwriter migrate", { timeout: 120_000 }, () => {
  it("prints the SQL of an empty database and runs none of it, then brings it up to date, then has nothing to do", async () => {
    await using made = await installation();
    for (const schema of ["nightwriter", "sales"]) {
      await made.database.session((session) => session.query(`drop schema ${schema} cascade`));
    }
    const refused = await made.run("status");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("run: nightwriter migrate") });

    const dry = await made.run("migrate", "--dry-run");
    expect(dry.code).toBe(0);
    expect(dry.stdout).toContain("create table nightwriter.ledger_entry");
    expect((await made.run("status")).code).toBe(1);

    const first = await made.run("migrate", "--json");
    expect(documentOf(first)).toMatchObject({ epoch: { started: true } });
    const second = await made.run("migrate", "--json");
    expect(documentOf(second)).toEqual({ applied: [], epoch: { epoch: 1, started: false }, roles: false });
    expect((await made.run("migrate", "--dry-run")).stdout).toBe("-- up to date: nothing to run");
    expect((await made.run("status")).code).toBe(0);
  });
});
