/** The verbs of a night, in the order in which an operator uses them, on real processes. */
import { describe, expect, it } from "vitest";
import { documentOf, importBoth, installation, soho } from "./fixture.ts";

describe("an operator's night, its queue in Redis", { timeout: 300_000 }, () => {
  it("is imported, run, looked at, run again, verified", async () => {
    await using made = await installation("redis");
    const { run, file } = made;
    await importBoth(made);
    await made.startWorker();

    const night = await run("run", "--date", "2026-03-14", "--wait", "--json");
    expect(night.code).toBe(0);
    expect(documentOf(night)).toMatchObject({
      planned: 2,
      deltaMinorByCurrency: { GBP: "1000", JPY: "1200" },
      runs: [{ kind: "nightly", date: "2026-03-14", items: { total: 2, applied: 2, due: 0 } }],
    });

    const text = await run("total", "Soho", "--history");
    expect(text.stdout).toMatch(
      /^Soho: 10\.00 GBP \(1 entry, .*\)\n\nversion .*\n +1  2026-03-14  10\.00 GBP  10\.00 GBP/,
    );
    expect(documentOf(await run("total", "Ginza", "--json"))).toMatchObject({ currency: "JPY", totalMinor: "1200" });
    expect((await run("total", "Ginza")).stdout).toMatch(/^Ginza: 1,200 JPY/);

    const more = await file("more.csv", `${soho}2026-03-14 22:00,1.00\n`);
    expect((await run("import", more, "--restaurant", "Soho", "--grown")).code).toBe(0);
    const outstanding = await run("verify");
    expect(outstanding.code).toBe(0);
    expect(outstanding.stdout).toMatch(/unplanned +Soho +2026-03-14 +1\.00 GBP/);

    const rerun = await run("rerun", "--date", "2026-03-14", "--request-id", "late", "--wait", "--json");
    expect(documentOf(rerun)).toMatchObject({ deltaMinorByCurrency: { GBP: "100", JPY: "0" } });
    const repeated = await run("rerun", "--date", "2026-03-14", "--request-id", "late", "--wait", "--json");
    expect(documentOf(repeated)).toMatchObject({ planned: 0 });

    const nights = await run("run", "--from", "2026-03-13", "--to", "2026-03-15", "--wait");
    expect(nights.stdout).toMatch(/^3 runs \(nightly, 2026-03-13 to 2026-03-15\)/);
    const status = documentOf(await run("status", "--json"));
    expect(status).toMatchObject({ runs: { length: 4 } });
    const verified = await run("verify", "--json");
    expect(verified.code).toBe(0);
    expect(documentOf(verified)).toMatchObject({ clean: true, outstandingSums: [] });
    expect((await run("total", "Soho")).stdout).toMatch(/^Soho: 18\.25 GBP/);
  });
});

describe("nightwriter import", { timeout: 120_000 }, () => {
  it("records a file once, and says so the second time", async () => {
    await using made = await installation();
    await importBoth(made);
    const again = await made.run("import", await made.file("copy.csv", soho), "--restaurant", "Soho", "--json");
    expect(again.code).toBe(0);
    expect(documentOf(again)).toMatchObject({ outcome: "duplicate", name: "soho.csv" });
  });

  it("refuses a file for one bad line, showing where, and with --skip-bad records the rest and ends with 3", async () => {
    await using made = await installation();
    const file = await made.file("bad.csv", `${soho}2026-02-30 10:00,1.00\n`);
    const args = ["import", file, "--restaurant", "Soho", "--zone", "Europe/London", "--currency", "GBP"];
    const refused = await made.run(...args);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/ 5 +date +"2026-02-30 10:00" is no date/);
    const document = documentOf(await made.run(...args, "--json"));
    expect(document).toMatchObject({ error: { code: "bad_lines", badLines: [{ line: 5, column: "date" }] } });

    const bad = await made.file("bad-lines.csv", "");
    const skipped = await made.run(...args, "--skip-bad", `${bad}.new`);
    expect(skipped.code).toBe(3);
    expect(skipped.stdout).toMatch(/^bad\.csv: 3 sales recorded, 17\.25 GBP/);
    expect(skipped.stdout).toContain("1 bad line written to");
  });

  it("answers a missing column with those that there are, as wrong usage", async () => {
    await using made = await installation();
    const file = await made.file("soho.csv", soho);
    const ran = await made.run("import", file, "--restaurant", "Soho", "--date-column", "when");
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(/has no column "when".*"date", "amount"/);
  });
});

describe("nightwriter open", { timeout: 180_000 }, () => {
  it("makes a first entry of each opening total, and nothing the second time", async () => {
    await using made = await installation();
    await made.startWorker();
    const file = await made.file("opening.csv", "restaurant,total,date\nSoho,40000,2026-03-01\n");
    const args = ["open", file, "--zone", "Europe/London", "--currency", "GBP", "--wait", "--json"];
    const first = await made.run(...args);
    expect(first.code).toBe(0);
    expect(documentOf(first)).toMatchObject({ outcome: "opened", carriedOut: { runs: [{ items: { applied: 1 } }] } });
    expect((await made.run("total", "Soho")).stdout).toMatch(/^Soho: 40,000\.00 GBP \(1 entry/);

    expect(documentOf(await made.run(...args))).toMatchObject({ outcome: "duplicate" });
    expect((await made.run("total", "Soho")).stdout).toMatch(/^Soho: 40,000\.00 GBP \(1 entry/);
  });
});
