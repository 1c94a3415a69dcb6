import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { runCommandLine } from "./command-line.ts";
import { commands } from "./commands/index.ts";
import { verbs } from "./program.ts";

type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

async function ran(...args: string[]): Promise<Ran> {
  const written = { stdout: "", stderr: "" };
  const stream = (name: "stdout" | "stderr"): Writable =>
    new Writable({
      write(chunk, _encoding, done) {
        written[name] += String(chunk);
        done();
      },
    });
  const code = await runCommandLine(args, { stdout: stream("stdout"), stderr: stream("stderr") });
  return { code, ...written };
}

describe("nightwriter without a verb", () => {
  it("prints the list of verbs on stderr and ends with 2", async () => {
    const { code, stdout, stderr } = await ran();
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    for (const verb of verbs) expect(stderr).toMatch(new RegExp(`^  ${verb}\\b`, "m"));
  });
});

describe("nightwriter --help", () => {
  it("prints every verb with its summary, and the exit codes, and ends with 0", async () => {
    const { code, stdout } = await ran("--help");
    expect(code).toBe(0);
    for (const { summary } of commands) expect(stdout.replaceAll(/\s+/g, " ")).toContain(summary);
    expect(stdout).toContain("Exit codes:");
  });

  it.each(verbs)("%s --help has examples and exit codes", async (verb) => {
    const { code, stdout, stderr } = await ran(verb, "--help");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`Examples:\\n  nightwriter ${verb}`));
    expect(stdout).toContain("Exit codes:");
    expect(stdout).toContain("--json");
  });

  it("worker --help lists the settings that it reads", async () => {
    expect((await ran("worker", "--help")).stdout).toContain("DATABASE_URL");
  });
});

describe("nightwriter verify --explain", () => {
  it("says what each rule proves and what none can see, without a database", async () => {
    const { code, stdout } = await ran("verify", "--explain");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^within-term +each entry was written under a term of the job/m);
    expect(stdout).toMatch(/^no rule sees:$/m);
    const { stdout: document } = await ran("verify", "--explain", "--json");
    const { rules, unseen } = JSON.parse(document);
    expect(rules).toContainEqual({
      rule: "one-night-per-date",
      claim: "each business date has one nightly run at most",
    });
    expect(unseen).not.toEqual([]);
  });
});

describe("a wrong command line", () => {
  it.each([
    [["rnu"], "unknown command 'rnu' (Did you mean run?)"],
    [["import", "a.csv", "--restaurant", ""], '--restaurant "": is empty; say the id of whose sales these are'],
    [["run", "--dat", "2026-03-28"], "unknown option '--dat' (Did you mean --date?)"],
    [["frobnicate"], "unknown command 'frobnicate'; see nightwriter --help"],
    [["status", "--frobnicate"], "unknown option '--frobnicate'; see nightwriter status --help"],
    [
      ["run", "--date", "2026-02-30"],
      "option '--date <date>' argument '2026-02-30' is invalid. There is no such day; see nightwriter run --help",
    ],
    [
      ["lease", "plan", "--lease", "soon"],
      "option '--lease <duration>' argument 'soon' is invalid. Write it as 400ms, 30s, 10m or 1h; see nightwriter lease plan --help",
    ],
    [["rerun"], "required option '--date <date>' not specified; see nightwriter rerun --help"],
    [["total"], "missing required argument 'restaurant'; see nightwriter total --help"],
    [
      ["verify", "now"],
      "too many arguments for 'verify'. Expected 0 arguments but got 1: now; see nightwriter verify --help",
    ],
  ])("%j is answered in one line and ends with 2", async (args, line) => {
    expect(await ran(...args)).toEqual({ code: 2, stdout: "", stderr: `nightwriter: ${line}\n` });
  });

  it("is answered with a document too when it has --json", async () => {
    const { code, stdout } = await ran("status", "--frobnicate", "--json");
    expect(code).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "usage" } });
  });
});

describe("a verb that cannot be meant", () => {
  it.each<[string[], RegExp]>([
    [["run", "--date", "2999-01-01"], /date 2999-01-01: lies in the future/],
    [["run"], /which night is to be run: say --date, or both --from and --to/],
    [["run", "--from", "2026-03-02", "--to", "2026-03-01"], /the range ends before it begins/],
    [["run", "--date", "2026-03-01", "--job", "restaurant-total"], /did you mean restaurant-totals\?/],
    [["run", "--date", "2026-03-01", "--job", "payroll"], /the jobs are: restaurant-totals/],
    [["run", "--date", "2026-03-01", "--request-id", "x"], /option --request-id: a night has none/],
    [["verify", "--from", "2026-03-02", "--to", "2026-03-01"], /the range ends before it begins/],
    [["import", "sales.csv"], /say either --restaurant or --restaurant-column/],
    [
      ["import", "sales.csv", "--restaurant", "Soho", "--price-column", "price"],
      /both --quantity-column and --price-column/,
    ],
    [
      ["import", "sales.csv", "--restaurant", "Soho", "--decimal-comma", "--decimal-comma-column", "price"],
      /say either --decimal-comma, for all columns, or --decimal-comma-column/,
    ],
  ])("%j is refused before anything is opened, in one line with its remedy", async (args, line) => {
    const { code, stdout, stderr } = await ran(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(line);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });
});
