/** What parks in a night, and its way back, as an operator goes it: on a real worker, through the command line. */
import { makeRestaurants, recordSales } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { documentOf, installation, nightwriter } from "./fixture.ts";

const date = "2026-03-14";
const largest = 2n ** 63n - 1n;

/** One sale that fits, and two together that no total can hold. */
const overflowing = (restaurant: string) =>
  [largest, largest].map((amountMinor) => ({ restaurant, businessDate: date, amountMinor }));
const mending = (restaurant: string) => ({ restaurant, businessDate: date, amountMinor: -largest });

describe("items that their own data parked", { timeout: 180_000 }, () => {
  it("come back with items retry once the data are mended, and the night then completes", async () => {
    await using made = await installation("redis");
    const { run, database, settings } = made;
    const keys = await makeRestaurants(database.db, 40);
    const bad = keys.slice(0, 12);
    await recordSales(database.db, [
      ...keys.slice(12).map((restaurant) => ({ restaurant, businessDate: date, amountMinor: 120 })),
      ...bad.flatMap(overflowing),
    ]);
    await made.startWorker();

    const night = await run("run", "--date", date, "--wait", "--json");
    expect(night.code).toBe(3);
    expect(documentOf(night)).toMatchObject({ runs: [{ items: { applied: 28, parked: 12, due: 0 } }] });

    const listed = await run("items", "list", "--json", "--limit", "5");
    expect(listed.code).toBe(3);
    expect(documentOf(listed)).toMatchObject({
      count: 12,
      counts: { "22003": 12 },
      items: bad.slice(0, 5).map((key) => ({ key, businessDate: date, status: "parked", sqlstate: "22003" })),
    });

    const rerun = await run("rerun", "--date", date, "--wait");
    expect(rerun.code).toBe(3);
    expect(rerun.stdout).toContain("left out: 12 items that this run was asked for and does not have");
    expect(rerun.stdout).toMatch(
      /r0001 2026-03-14: parked in run 1 \(22003 .*\); mend it, then: nightwriter items retry/,
    );
    const named = await run(
      "run",
      "--date",
      date,
      "--restaurant",
      "r0001",
      "--restaurant",
      "r0040",
      "--wait",
      "--json",
    );
    expect(named.code).toBe(3);
    expect(documentOf(named)).toMatchObject({
      planned: 1,
      leftOut: { counts: { parked: 1 }, pairs: [{ key: "r0001", reason: "parked", runId: "1" }] },
    });

    await recordSales(
      database.db,
      bad.flatMap((key) => (key === "r0012" ? [] : [mending(key)])),
    );
    const dry = await run("items", "retry", "--sqlstate", "22003", "--dry-run");
    expect(dry).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("would retry 12 items; nothing was changed"),
    });
    const retried = await run("items", "retry", "--sqlstate", "22003", "--reason", "corrected, ticket 4711");
    expect(retried).toMatchObject({ code: 0, stdout: expect.stringContaining("12 items due again and enqueued") });

    // The one whose data are as bad as before is parked again, and told.
    await expect.poll(async () => (await run("items", "list", "--json")).stdout).toContain('"count": 1');
    const status = await run("status", "--date", date);
    expect(status.code).toBe(3);
    expect(status.stdout).toMatch(/run 1 +r0012 +2026-03-14 +22003/);
    await recordSales(database.db, [mending("r0012")]);

    const away = await nightwriter(["items", "retry", "--key", "r0012", "--reason", "all of it"], {
      ...settings,
      QUEUE_URL: "redis://127.0.0.1:1",
      LEASE_URL: settings["QUEUE_URL"] ?? "",
    });
    expect(away).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/1 item due again, not enqueued: .*scheduler/),
    });
    const completed = await run("run", "--date", date, "--wait", "--json");
    expect(completed.code).toBe(0);
    expect(documentOf(completed)).toMatchObject({ runs: [{ items: { applied: 40, parked: 0, due: 0 } }] });
    expect(documentOf(await run("verify", "--json"))).toMatchObject({ clean: true, outstandingSums: [] });
    expect((await run("items", "list")).code).toBe(0);

    const audits = await database.db.selectFrom("nightwriter.audit_log").selectAll().orderBy("id").execute();
    expect(audits).toMatchObject([
      {
        verb: "items retry",
        reason: "corrected, ticket 4711",
        arguments: { sqlstate: ["22003"], all: false },
        before: { items: { length: 12 }, runs: [{ id: "1" }] },
        after: { items: { length: 12 }, runs: [{ id: "1", finishedAt: null }] },
      },
      { reason: "all of it", arguments: { key: ["r0012"] }, before: { items: [{ key: "r0012", status: "parked" }] } },
    ]);
  });
});

describe("a retry that cannot be meant", () => {
  it.each([
    [["--all", "--key", "r0001", "--reason", "x"], "option --all: means every parked item"],
    [["--reason", "x"], "which items are to be retried: say --key, --date or --sqlstate, or --all"],
    [["--all"], "option --reason: is missing; say why"],
    [["--all", "--reason", " "], "Say why in words: the audit log keeps it"],
    [["--sqlstate", "22", "--reason", "x"], "Write it as five digits or capital letters: 22003"],
  ])("%j is refused in one line", async (args, line) => {
    const { code, stdout, stderr } = await nightwriter(["items", "retry", ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(line);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });
});
