import { createReadStream } from "node:fs";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { openDatabase } from "@nightwriter/database";
import { type Randomness, seededRandom, testDatabase } from "@nightwriter/testkit";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const LINES = 1_000_000;

interface Measured {
  readonly lines: number;
  readonly seconds: number;
  readonly peakMegabytes: number;
}

/** Writes a million sales twice, in the same order: as a till would, and as COPY takes them. */
async function writeFiles(folder: string, random: Randomness): Promise<{ csv: string; rows: string }> {
  const paths = { csv: join(folder, "sales.csv"), rows: join(folder, "sales.txt") };
  await using csv = await open(paths.csv, "w");
  await using rows = await open(paths.rows, "w");
  await csv.write("invoice,date,item,qty,price,city\n");
  for (let start = 0; start < LINES; start += 10_000) {
    let csvText = "";
    let rowText = "";
    for (let line = start; line < start + 10_000; line += 1) {
      const [month, day, hour, minute] = [
        1 + random.below(12),
        1 + random.below(28),
        4 + random.below(20),
        random.below(60),
      ].map((part) => String(part).padStart(2, "0"));
      const [quantity, pence, city] = [1 + random.below(5), 1 + random.below(3_000), 1 + random.below(500)];
      const price = (pence / 100).toFixed(2);
      csvText += `${line},${day}/${month}/2026 ${hour}:${minute},Tandoori Mixed Grill,${quantity},${price},R${city}\n`;
      rowText += `R${city}\t2026-${month}-${day}\tbare\t${line}\t${quantity * pence}\t1\n`;
    }
    await csv.write(csvText);
    await rows.write(rowText);
  }
  return paths;
}

/** Returns how many seconds a bare COPY of the rows takes. */
async function copyBare(url: string, rows: string): Promise<number> {
  await using database = openDatabase({ url, applicationName: "bare copy", max: 1, statementTimeoutMs: 0 });
  await database.session(async (session) => {
    await session.query(
      `insert into sales.restaurant (id, name, time_zone, currency)
       select 'R' || n, 'R' || n, 'Europe/London', 'GBP' from generate_series(1, 500) n`,
    );
  });
  const start = performance.now();
  await database.session(async (session) =>
    pipeline(
      createReadStream(rows),
      session.copyFrom(
        "copy sales.sale (restaurant_id, business_date, source, source_line, amount_minor, epoch) from stdin",
      ),
    ),
  );
  return (performance.now() - start) / 1_000;
}

describe("importSales of a million lines", () => {
  let folder = "";
  let paths = { csv: "", rows: "" };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "nightwriter-import-"));
    paths = await writeFiles(folder, seededRandom());
  }, 120_000);
  afterAll(async () => rm(folder, { recursive: true, force: true }));

  it("takes less than 300 MB, and 50,000 lines a second or a quarter of a bare COPY's speed", async () => {
    await using before = await testDatabase();
    const beforeSeconds = await copyBare(before.url, paths.rows);
    await using imported = await testDatabase();
    const script = join(import.meta.dirname, "programs", "measured-import.ts");
    const { stdout } = await execa(process.execPath, [script, imported.url, paths.csv]);
    const measured = JSON.parse(stdout) as Measured;
    expect(measured.lines).toBe(LINES);

    await using bare = await testDatabase();
    // One before and one after: a machine that is busy for a while slows down one of them too.
    const bareSeconds = Math.max(beforeSeconds, await copyBare(bare.url, paths.rows));

    const rate = LINES / measured.seconds;
    const ratio = bareSeconds / measured.seconds;
    console.log(
      `import ${Math.round(rate)} lines/s, ${ratio.toFixed(2)} of a bare COPY's, peak ${Math.round(measured.peakMegabytes)} MB`,
    );
    expect(measured.peakMegabytes).toBeLessThan(300);
    expect(rate >= 50_000 || ratio >= 0.25, `${rate} lines/s, ratio ${ratio}`).toBe(true);
    const sums = [imported, bare].map(async ({ db }) =>
      db
        .selectFrom("sales.sale")
        .select((eb) => eb.fn.sum<string>("amount_minor").as("sum"))
        .executeTakeFirst(),
    );
    const [one, other] = await Promise.all(sums);
    expect(one).toEqual(other);
  }, 900_000);
});
