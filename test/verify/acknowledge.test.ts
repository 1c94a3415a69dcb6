/** Findings that somebody looked into: told apart as they stand, and violations again once any number of them changes. */
import { acknowledgeFindings, verify } from "@nightwriter/ledger";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Books, damage, type History, nights, now, type Original, openOriginal } from "./history.ts";

let original: Original;
beforeAll(async () => {
  original = await openOriginal();
});
afterAll(async () => original[Symbol.asyncDispose]());

const actor = { name: "auditor", host: "here" };

async function acknowledge({ database, job }: Books, findings: readonly string[], withdraw = false) {
  return acknowledgeFindings(database, job, { findings, withdraw, actor, reason: "a till was mended", now });
}

/** How many violations and acknowledged findings there are, and the ids that are listed. */
async function counts({ database, job }: Books, listed = 100) {
  const { rules, clean, acknowledgedCount } = await verify(database, job, { now, listed });
  return {
    clean,
    acknowledged: acknowledgedCount,
    violated: rules.reduce((sum, rule) => sum + rule.violationCount, 0),
    ids: rules.flatMap(({ violations }) => violations).map(({ finding }) => finding),
  };
}

/** A sale edited behind the trigger; no run has put it right. */
async function edit(history: History, key: string, amountMinor: number): Promise<void> {
  await damage(
    history,
    `update sales.sale set amount_minor = ${amountMinor} where restaurant_id = '${key}' and business_date = '${nights[2]}'`,
  );
}

describe("a finding that was acknowledged", () => {
  test("stays out until any number of it changes, and comes back by the number", async () => {
    await using history = await original.copy();
    await edit(history, "r0003", 304);
    const found = await counts(history);
    expect(found).toMatchObject({ clean: false, violated: 2, acknowledged: 0 });
    expect(await acknowledge(history, found.ids)).toMatchObject({ outcome: "done", changed: [{}, {}] });
    expect(await counts(history)).toMatchObject({ clean: true, violated: 0, acknowledged: 2, ids: [] });
    await edit(history, "r0003", 305);
    const changed = await counts(history);
    expect(changed).toMatchObject({ clean: false, violated: 2, acknowledged: 0 });
    expect(changed.ids).not.toEqual(expect.arrayContaining(found.ids.slice(0, 1)));
    await edit(history, "r0003", 304);
    expect(await counts(history)).toMatchObject({ clean: true, acknowledged: 2 });
  });

  test("counts rightly beyond what is listed, and is found beyond it", async () => {
    await using history = await original.copy();
    for (const key of ["r0001", "r0002", "r0003"]) await edit(history, key, 1_000);
    const all = await counts(history);
    const first = await counts(history, 1);
    expect([all.violated, all.ids.length, first.violated, first.ids.length]).toEqual([6, 6, 6, 2]);
    const beyond = all.ids.filter((id) => !first.ids.includes(id));
    await acknowledge(history, beyond);
    expect(await counts(history, 1)).toMatchObject({ violated: 2, acknowledged: 4, ids: first.ids });
  });

  test("is a violation again once that is taken back, and acknowledged anew", async () => {
    await using history = await original.copy();
    await edit(history, "r0003", 304);
    const { ids } = await counts(history);
    await acknowledge(history, ids);
    expect(await acknowledge(history, ids)).toEqual({ outcome: "done", changed: [] });
    await acknowledge(history, ids, true);
    expect(await counts(history)).toMatchObject({ violated: 2, acknowledged: 0 });
    await acknowledge(history, ids);
    expect(await counts(history)).toMatchObject({ violated: 0, acknowledged: 2 });
    const log = history.database.db.selectFrom("nightwriter.audit_log").select(["verb", "actor", "reason"]);
    expect(await log.execute()).toEqual(
      Array.from({ length: 3 }, () => ({ verb: "acknowledge", actor: "auditor", reason: "a till was mended" })),
    );
  });

  test("is all or nothing: an id of no finding changes nothing", async () => {
    await using history = await original.copy();
    await edit(history, "r0003", 304);
    const { ids } = await counts(history);
    expect(await acknowledge(history, [...ids, "0000000000000000"])).toEqual({
      outcome: "unknown",
      findings: ["0000000000000000"],
    });
    expect(await counts(history)).toMatchObject({ violated: 2, acknowledged: 0 });
  });

  test("excuses no finding whose content another acknowledgement's id only resembles", async () => {
    await using history = await original.copy();
    await edit(history, "r0003", 304);
    const { ids } = await counts(history);
    await acknowledge(history, ids);
    await damage(history, "update nightwriter.acknowledgement set actual = actual + 1");
    expect(await counts(history)).toMatchObject({ violated: 2, acknowledged: 0 });
  });
});
