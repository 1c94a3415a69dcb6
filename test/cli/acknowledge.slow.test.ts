/** A sale edited behind the trigger and put right by a rerun, as an auditor goes on from there through the command line. */
import { readFile } from "node:fs/promises";
import { makeRestaurants, recordSales } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { documentOf, type Installation, installation } from "./fixture.ts";

const date = "2026-03-14";

async function edit({ database }: Installation, amountMinor: number): Promise<void> {
  await database.session(async (session) => {
    await session.query("set session_replication_role = replica");
    await session.query("alter table sales.sale drop constraint sale_own_stamp");
    await session.query(`update sales.sale set amount_minor = ${amountMinor} where restaurant_id = 'r0001'`);
    await session.query("select nightwriter.require_stamps('sales.sale')");
    await session.query("reset session_replication_role");
  });
}

interface Report {
  readonly rules: readonly { readonly violations: readonly { readonly finding: string }[] }[];
}

describe("acknowledge", { timeout: 180_000 }, () => {
  it("lets verify end with 0 until the finding changes by one unit", async () => {
    await using made = await installation("redis");
    const { run, database } = made;
    const [restaurant = ""] = await makeRestaurants(database.db, 2);
    await recordSales(database.db, [{ restaurant, businessDate: date, amountMinor: 500 }]);
    await made.startWorker();
    expect((await run("run", "--date", date, "--wait")).code).toBe(0);
    await edit(made, 505);
    expect((await run("rerun", "--date", date, "--wait")).code).toBe(0);

    const violated = await run("verify", "--json");
    expect(violated.code).toBe(3);
    const report = documentOf(violated) as Report;
    const findings = report.rules.flatMap(({ violations }) => violations.map(({ finding }) => finding));
    expect(findings).toHaveLength(1);
    expect((await run("verify")).stdout).toContain(findings[0]);

    expect(await run("acknowledge", ...findings, "--reason", "  ")).toMatchObject({ code: 2 });
    expect(await run("acknowledge", "0123456789abcdef", "--reason", "a look")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("finding 0123456789abcdef: verify finds no such; nothing was changed"),
    });
    const acknowledged = await run("acknowledge", ...findings, "--reason", "edited on purpose, ticket 4711");
    expect(acknowledged).toMatchObject({ code: 0, stdout: expect.stringContaining("delta-from-snapshot: key r0001") });
    const clean = await run("verify");
    expect(clean).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("every rule holds, but for 1 acknowledged"),
    });
    expect(clean.stdout).toContain("edited on purpose, ticket 4711");

    await edit(made, 506);
    const path = `${await made.file("there", "")}.pairs`;
    expect(await run("verify", "--pairs", path)).toMatchObject({
      code: 3,
      stdout: expect.stringContaining(`1 pair differs from the source: written to ${path}`),
    });
    const pair = { status: "violated", key: "r0001", businessDate: date, sourceMinor: "506", enteredMinor: "505" };
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual(pair);
    expect(await run("verify", "--pairs", path)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`file ${path} is there already; name one that can be made new`),
    });
    expect(JSON.parse(await readFile(path, "utf8"))).toEqual(pair);
    await edit(made, 505);
    expect((await run("verify")).code).toBe(0);
    expect((await run("acknowledge", ...findings, "--withdraw", "--reason", "was another till")).code).toBe(0);
    expect((await run("verify")).code).toBe(3);
    const rows = await sql`select verb, reason from nightwriter.audit_log order by id`.execute(database.db);
    expect(rows.rows).toEqual([
      { verb: "acknowledge", reason: "edited on purpose, ticket 4711" },
      { verb: "acknowledge", reason: "was another till" },
    ]);
  });
});
