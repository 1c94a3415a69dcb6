/** What a person sees when a night does not simply succeed. */

import { spawnApp } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { documentOf, ENTRY, importBoth, installation } from "./fixture.ts";

describe("nightwriter run --wait", { timeout: 180_000 }, () => {
  it("says that no worker seems to be up, and on Ctrl-C leaves the run going and says how to look at it", async () => {
    await using made = await installation();
    await importBoth(made);
    const waiting = await spawnApp(ENTRY, made.settings, { args: ["run", "--date", "2026-03-14", "--wait"] });
    await waiting.waitForLog(({ msg }) => msg?.includes("no worker seems to be up") === true, 60_000);
    waiting.signal("SIGINT");
    expect(await waiting.exited).toEqual({ code: 130, signal: null });
    const said = waiting.log.map(({ msg }) => msg).join("\n");
    expect(said).toContain("goes on without this command; 0 items applied so far, 2 due");
    expect(said).toContain("nightwriter status --date 2026-03-14 --watch");

    const before = documentOf(await made.run("status", "--date", "2026-03-14", "--json"));
    expect(before).toMatchObject({ runs: [{ items: { due: 2 } }] });
    await made.startWorker();
    const watched = await made.run("status", "--date", "2026-03-14", "--watch", "--json");
    expect(watched.code).toBe(0);
    expect(documentOf(watched)).toMatchObject({ runs: [{ items: { applied: 2, due: 0 } }] });
  });

  it("ends with 3 when an item is parked, naming it with its error; so does status", async () => {
    await using made = await installation();
    await importBoth(made);
    await sql`
      create function refuse_ginza() returns trigger language plpgsql as $$
      begin
        raise exception 'under audit';
      end $$`.execute(made.database.db);
    await sql`
      create trigger refuse_ginza before update on nightwriter.key_total for each row
      when (new.key = 'Ginza') execute function refuse_ginza()`.execute(made.database.db);
    await made.startWorker();

    const ran = await made.run("run", "--date", "2026-03-14", "--wait");
    expect(ran.code).toBe(3);
    expect(ran.stdout).toMatch(/1 item applied, 1 parked/);
    expect(ran.stdout).toMatch(/Ginza +2026-03-14 +P0001 .*under audit/);
    const status = await made.run("status", "--json");
    expect(status.code).toBe(3);
    expect(documentOf(status)).toMatchObject({
      runs: [{ items: { parked: 1 }, parkedItems: [{ key: "Ginza", sqlstate: "P0001" }] }],
    });
  });
});

describe("nightwriter status", { timeout: 120_000 }, () => {
  it("ends with 3 for a past night that never ran, and says how to run it", async () => {
    await using made = await installation();
    const ran = await made.run("status", "--date", "2026-03-14");
    expect(ran).toMatchObject({
      code: 3,
      stdout: "no run of 2026-03-14; run it with: nightwriter run --date 2026-03-14 --wait",
    });
  });

  it("ends with 3 when items are due and none was applied for a quarter of an hour", async () => {
    await using made = await installation();
    await importBoth(made);
    await made.run("run", "--date", "2026-03-14");
    expect((await made.run("status")).code).toBe(0);
    await sql`update nightwriter.run set created_at = created_at - interval '16 minutes',
      planned_at = planned_at - interval '16 minutes'`.execute(made.database.db);
    const late = await made.run("status");
    expect(late.code).toBe(3);
    expect(late.stdout).toContain("overdue");
  });
});

describe("nightwriter verify", { timeout: 120_000 }, () => {
  it("ends with 3 and names rule, key, date and amount of a planted violation", async () => {
    await using made = await installation();
    await importBoth(made);
    await made.startWorker();
    await made.run("run", "--date", "2026-03-14", "--wait");
    await sql`update nightwriter.key_total set total_minor = total_minor + 1 where key = 'Soho'`.execute(
      made.database.db,
    );

    const ran = await made.run("verify");
    expect(ran.code).toBe(3);
    expect(ran.stdout).toMatch(/VIOLATED +total-row/);
    expect(ran.stdout).toMatch(/Soho .*10\.01 GBP +10\.00 GBP/);
    expect(documentOf(await made.run("verify", "--json"))).toMatchObject({ clean: false });
  });
});
