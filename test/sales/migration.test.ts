/** What stood before imports could be listed comes along, and by hand as by `migrate`. */
import { coreSchema, migrateToLatest, pendingSql } from "@nightwriter/database";
import { schemaLists } from "@nightwriter/restaurant-totals";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { emptiedDatabase } from "../database/emptied.ts";
import { dumpSchema } from "../database/schema-dump.ts";

describe("the tables of sales", () => {
  test("come after the core's, once, and keep what was imported before, a length of a growing file each", async () => {
    await using test = await emptiedDatabase("15");
    await migrateToLatest(test.database, { lists: [coreSchema] });
    await sql`insert into sales.import_file (restaurant_id, content_hash, byte_count, line_count, line_hashes, name, source) values
      ('soho', 'a', 100, 10, '{x}', 'till.csv', 'file:1'), ('bow', 'b', 50, 5, '{y}', 'bow.csv', 'file:2'),
      ('soho', 'c', 170, 17, '{x,z}', 'till.csv', 'file:1')`.execute(test.db);
    expect(await migrateToLatest(test.database, { lists: schemaLists })).toMatchObject({
      applied: ["sales/0001-imports", "sales/0002-restaurants"],
    });
    const { rows } =
      await sql`select id, name, source, first_line, last_line, content_hash from sales.import order by id`.execute(
        test.db,
      );
    expect(rows).toEqual([
      { id: 1n, name: "till.csv", source: "file:1", first_line: 1n, last_line: 10n, content_hash: "a" },
      { id: 2n, name: "bow.csv", source: "file:2", first_line: 1n, last_line: 5n, content_hash: "b" },
      { id: 3n, name: "till.csv", source: "file:1", first_line: 11n, last_line: 17n, content_hash: "c" },
    ]);
    expect((await sql`select nextval('sales.import_id_seq') as next`.execute(test.db)).rows).toEqual([{ next: 4n }]);
    expect(await migrateToLatest(test.database, { lists: schemaLists })).toMatchObject({ applied: [] });
  });

  test("are made by the printed SQL as well, and then nothing is left to do", async () => {
    await using byHand = await emptiedDatabase("15");
    const statements = await pendingSql(byHand.database, schemaLists);
    const text = statements.map((each) => (each.startsWith("--") ? each : `${each};`)).join("\n");
    await byHand.database.session(async (session) => session.query(text));
    await using migrated = await emptiedDatabase("15");
    await migrateToLatest(migrated.database, { lists: schemaLists });
    expect(await dumpSchema(byHand.url)).toBe(await dumpSchema(migrated.url));
    expect(await pendingSql(byHand.database, schemaLists)).toEqual([]);
    expect(await migrateToLatest(byHand.database, { lists: schemaLists })).toMatchObject({ applied: [] });
  });
});
