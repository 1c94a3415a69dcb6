import { testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { importNew, optionsOf, temporaryFolder } from "./fixture.ts";

describe("importSales", () => {
  it("notes the local time of each sale, on the restaurant's wall clock", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const file = await folder.write("x.csv", "date,amount\n01/03/2026 23:59,1\n02/03/2026 03:59,2\n");
    await importNew(test.database, optionsOf(file, { cutoff: "04:00" }));
    const format = "yyyy-MM-dd HH:mm:ss.SSSXXX";
    const instants = await folder.write("y.csv", "date,amount\n2026-07-01 23:30:00.250Z,4\n");
    await importNew(test.database, optionsOf(instants, { date: { column: "date", format } }));
    const dates = await folder.write("z.csv", "date,amount\n2026-08-01,8\n");
    await importNew(test.database, optionsOf(dates, { date: { column: "date", format: "yyyy-MM-dd" } }));
    const { rows } = await sql<{ row: string }>`
      select concat_ws(' | ', business_date, amount_minor, local_time) as row from sales.sale order by amount_minor`.execute(
      test.db,
    );
    expect(rows.map(({ row }) => row)).toEqual([
      "2026-03-01 | 100 | 2026-03-01 23:59:00",
      "2026-03-01 | 200 | 2026-03-02 03:59:00",
      "2026-07-01 | 400 | 2026-07-02 00:30:00.25",
      "2026-08-01 | 800",
    ]);
  });

  it("notes what an import came to, and whether its last line had a line end", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const file = await folder.write("x.csv", "date,amount\n01/03/2026 12:00,1\nx,2\n03/03/2026 13:30,-0.25");
    await importNew(test.database, optionsOf(file, { skipBad: folder.path("bad.csv") }));
    const { rows } = await sql`
      select kept, added, skipped, sums, first_date::text, last_date::text, newest::text, ends_line from sales.import`.execute(
      test.db,
    );
    expect(rows).toEqual([
      {
        kept: 2n,
        added: 2n,
        skipped: 1n,
        sums: { GBP: "75" },
        first_date: "2026-03-01",
        last_date: "2026-03-03",
        newest: "2026-03-03 13:30:00",
        ends_line: false,
      },
    ]);
  });
});
