/** That the list of guards which verify asks for is whole: every table that is append-only or stamped, of every room. */
import { sql } from "kysely";
import { expect, test } from "vitest";
import { broken, openOriginal } from "./history.ts";

test("every append-only trigger and every check of stamps that is missing is named", async () => {
  await using original = await openOriginal();
  await using history = await original.copy();
  const { rows } = await sql<{ measure: string; plant: string }>`
    select format('trigger %s of %s', tgname, tgrelid::regclass) as measure,
      format('drop trigger %I on %s', tgname, tgrelid::regclass) as plant
    from pg_trigger where tgfoid = 'nightwriter.refuse_change()'::regprocedure
    union all
    select format('stamp %s of %s', conname, conrelid::regclass), format('alter table %s drop constraint %I', conrelid::regclass, conname)
    from pg_constraint where contype = 'c' and conname like '%_own_stamp'`.execute(history.database.db);
  expect(rows.length).toBeGreaterThan(14);
  for (const { plant } of rows) await sql.raw(plant).execute(history.database.db);
  const named = (await broken(history)).map(({ rule, measure }) => ({ rule, measure }));
  const byMeasure = (one: { measure: string }, other: { measure: string }): number =>
    one.measure < other.measure ? -1 : 1;
  expect(named.toSorted(byMeasure)).toEqual(
    rows.map(({ measure }) => ({ rule: "guards-in-place", measure })).toSorted(byMeasure),
  );
});
