/** The committed schema is what the migrations make. */

import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { dumpSchema } from "./schema-dump.ts";

const committed = resolve(import.meta.dirname, "../../packages/database/schema.sql");

/** Each changes one thing of a kind. */
const drifts = [
  "alter table sales.sale add column till text",
  "alter table nightwriter.run alter column revision type integer",
  "alter table nightwriter.run_item alter column generation set default 1",
  "alter table nightwriter.job drop constraint job_partition_count_check",
  "drop index sales.sale_recorded",
  "alter table nightwriter.key_total reset (fillfactor)",
  "alter table nightwriter.ledger_entry disable trigger ledger_entry_append_only",
  "grant update on nightwriter.ledger_entry to public",
  "create or replace function nightwriter.refuse_change() returns trigger language plpgsql as $$ begin return new; end $$",
  "comment on table nightwriter.epoch is 'planted'",
];

describe("packages/database/schema.sql", () => {
  test("is what the migrations make", async () => {
    await using migrated = await testDatabase({ server: "15" });
    await expect(await dumpSchema(migrated.url)).toMatchFileSnapshot(committed);
  });

  test("differs as soon as anything has drifted", async () => {
    await using drifting = await testDatabase({ server: "15" });
    let before = await readFile(committed, "utf8");
    for (const drift of drifts) {
      await sql.raw(drift).execute(drifting.db);
      const after = await dumpSchema(drifting.url);
      expect(after, drift).not.toBe(before);
      before = after;
    }
  });
});
