import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { openDatabase } from "@nightwriter/database";
import { importSales } from "@nightwriter/sales";
import { recordSales, testDatabase } from "@nightwriter/testkit";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { importNew, nothing, optionsOf, rowCounts, saleLines, sales, temporaryFolder } from "./fixture.ts";

const stoppedImport = fileURLToPath(new URL("stopped-import.ts", import.meta.url));
const header = "date,amount\n";
const first = "01/03/2026 12:00,1.00\n02/03/2026 12:00,2.00\n";
const second = "03/03/2026 12:00,3.00\n";

describe("importSales, called again", () => {
  it("changes nothing for the same content, whatever its name and compression", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const original = await importNew(test.database, optionsOf(await folder.write("x.csv", header + first)));
    const before = await sales(test.database);
    for (const [name, content] of [
      ["x.csv", header + first],
      ["y.csv", header + first],
      ["y.csv.gz", gzipSync(header + first)],
    ] as const) {
      const again = await importSales(test.database, optionsOf(await folder.write(name, content)));
      expect(again).toMatchObject({ outcome: "duplicate", source: original.source, name: "x.csv" });
    }
    expect(await sales(test.database)).toEqual(before);
    expect(await rowCounts(test.database)).toEqual({ sales: 2, files: 1, restaurants: 1 });
  });

  it.each([
    ["after a line feed", header + first, second],
    ["before a line feed", (header + first).trimEnd(), `\n${second}`],
    ["before a carriage return", (header + first).trimEnd(), `\r\n${second}`],
    ["inside its last line end", `${(header + first).trimEnd()}\r`, `\n${second}`],
  ])("adds only the new lines of a file that grew %s, as an import of its own", async (_, old, added) => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const { source } = await importNew(test.database, optionsOf(await folder.write("x.csv", old)));
    const grown = await importNew(test.database, optionsOf(await folder.write("x.csv", old + added)));
    expect(grown).toMatchObject({ lines: 1, knownLines: 2, sums: new Map([["GBP", 300n]]) });
    expect(grown.businessDates.map(String)).toEqual(["2026-03-03"]);
    expect(await sales(test.database)).toMatchObject([
      { source, line: 2, minor: 100 },
      { source, line: 3, minor: 200 },
      { source: grown.source, line: 4, minor: 300 },
    ]);
    expect(await importSales(test.database, optionsOf(folder.path("x.csv")))).toMatchObject({
      outcome: "duplicate",
      source: grown.source,
    });
    const older = await folder.write("older.csv", old);
    expect(await importSales(test.database, optionsOf(older))).toMatchObject({ outcome: "duplicate", source });
  });

  it.each([
    { change: "carriage returns", copyOf: (content: string) => content.replaceAll("\n", "\r\n") },
    { change: "a byte order mark", copyOf: (content: string) => `\uFEFF${content}` },
    { change: "no line end at its end", copyOf: (content: string) => content.trimEnd() },
    { change: "all of these", copyOf: (content: string) => `\uFEFF${content.trimEnd().replaceAll("\n", "\r\n")}` },
  ])("takes a copy with $change for the same file, and follows either when it grows", async ({ copyOf }) => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const content = `date,amount,note\n01/03/2026 12:00,1.00,"a\nb"\n`;
    const added = "02/03/2026 12:00,2.00,\n";
    for (const [restaurant, one, other] of [
      ["soho", content, copyOf(content)],
      ["camden", copyOf(content), content],
    ] as const) {
      const options = { restaurant: { id: restaurant } };
      const original = await importNew(test.database, optionsOf(await folder.write("x.csv", one), options));
      const copy = optionsOf(await folder.write("y.csv", other), options);
      expect(await importSales(test.database, copy)).toMatchObject({ outcome: "duplicate", source: original.source });
      const longer = await folder.write("y.csv", copyOf(content + added));
      const grown = optionsOf(longer, { ...options, accept: new Set(["grown"]) });
      expect(await importNew(test.database, grown)).toMatchObject({ lines: 1, knownLines: 1 });
      const again = optionsOf(await folder.write("x.csv", content + added), options);
      expect(await importSales(test.database, again)).toMatchObject({ outcome: "duplicate", name: "y.csv" });
      expect(await saleLines(test.database, restaurant)).toEqual(["2 2026-03-01 100", "4 2026-03-02 200"]);
    }
  });

  it("follows a file that grows again and again", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    let content = header;
    for (let day = 1; day <= 9; day += 1) {
      content += `0${day}/03/2026 12:00,${day}\n`;
      await importNew(test.database, optionsOf(await folder.write("x.csv", content)));
    }
    const lines = Array.from({ length: 9 }, (_, index) => `${index + 2} 2026-03-0${index + 1} ${(index + 1) * 100}`);
    expect(await saleLines(test.database)).toEqual(lines);
    expect(new Set((await sales(test.database)).map((sale) => sale.source)).size).toBe(9);
  });

  it.each([
    {
      which: "whose last line was written on behind its line end",
      old: header + first,
      changed: `${(header + first).trimEnd()}5\n`,
      code: "in_doubt",
    },
    {
      which: "that is a longer copy with other line ends and an edited last line",
      old: header + first + second,
      changed: (header + first + second.replace("3.00", "3.50") + second).replaceAll("\n", "\r\n"),
      code: "in_doubt",
    },
    {
      which: "whose old part was edited near its end",
      old: header + first + second,
      changed: `${header + first}03/03/2026 12:00,3.50\n${second}`,
      code: "in_doubt",
    },
    {
      which: "that is an older copy of an imported one",
      old: header + first + second,
      changed: header + first,
      code: "in_doubt",
    },
  ])("refuses a file $which", async ({ old, changed, code }) => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    await importNew(test.database, optionsOf(await folder.write("x.csv", old)));
    const before = await sales(test.database);
    const options = optionsOf(await folder.write("x.csv", changed));
    await expect(importSales(test.database, options)).rejects.toMatchObject({ name: "ImportFault", code });
    expect(await sales(test.database)).toEqual(before);
    expect(await rowCounts(test.database)).toMatchObject({ files: 1 });
  });

  it("refuses a file that grew otherwise than before", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    await importNew(test.database, optionsOf(await folder.write("x.csv", header + first)));
    await importNew(test.database, optionsOf(await folder.write("x.csv", header + first + second)));
    const fork = optionsOf(await folder.write("x.csv", `${header + first}04/03/2026 12:00,4.00\n`));
    await expect(importSales(test.database, fork)).rejects.toMatchObject({
      code: "in_doubt",
      message: expect.stringMatching(
        /^x\.csv: begins with all 2 lines of x\.csv, which were imported, but that file has since grown to 4 lines that are not these; nothing was recorded\. .*--only-new/,
      ),
    });
    expect(await importNew(test.database, { ...fork, accept: new Set(["only-new"]) })).toMatchObject({ lines: 1 });
  });

  it("records an edited copy when told so, under a source of its own", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    await importNew(test.database, optionsOf(await folder.write("x.csv", header + first + second)));
    const copy = optionsOf(await folder.write("x.csv", header + first), { accept: new Set(["allow-overlap"]) });
    expect(await importNew(test.database, copy)).toMatchObject({ lines: 2, knownLines: 0 });
    expect(new Set((await sales(test.database)).map((sale) => sale.source)).size).toBe(2);
  });

  it("records the same content once for each restaurant that it is imported for", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const [soho, camden] = ["soho", "camden"].map((id) => ({ restaurant: { id } }));
    const one = await importNew(test.database, optionsOf(await folder.write("soho.csv", header + first), soho));
    const file = await folder.write("camden.csv", header + first);
    const other = await importNew(test.database, optionsOf(file, camden));
    expect(other).toMatchObject({ lines: 2, knownLines: 0, restaurantsCreated: 1 });
    expect(other.source).not.toBe(one.source);
    expect(await saleLines(test.database, "camden")).toEqual(await saleLines(test.database, "soho"));
    const again = await importSales(test.database, optionsOf(file, camden));
    expect(again).toMatchObject({ outcome: "duplicate", source: other.source, name: "camden.csv" });
    expect(await rowCounts(test.database)).toEqual({ sales: 4, files: 2, restaurants: 2 });
  });

  it.each([
    { which: "begins with", content: header + first + second, lines: 3 },
    { which: "is the beginning of", content: `${header}01/03/2026 12:00,1.00\n`, lines: 1 },
  ])("records all of a file that $which what another restaurant's says", async ({ content, lines }) => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    await importNew(test.database, optionsOf(await folder.write("soho.csv", header + first)));
    const camden = optionsOf(await folder.write("camden.csv", content), { restaurant: { id: "camden" } });
    expect(await importNew(test.database, camden)).toMatchObject({ lines, knownLines: 0 });
    expect(await saleLines(test.database, "camden")).toHaveLength(lines);
  });

  it("leaves sales of other programs alone", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    await importNew(test.database, optionsOf(await folder.write("x.csv", header + first)));
    await recordSales(test.db, [{ restaurant: "soho", businessDate: "2026-03-01", amountMinor: 100 }]);
    expect(await importSales(test.database, optionsOf(folder.path("x.csv")))).toMatchObject({ outcome: "duplicate" });
    expect(await rowCounts(test.database)).toMatchObject({ sales: 3 });
  });

  it("marks sales with the transaction and the epoch that recorded them", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    await importNew(test.database, optionsOf(await folder.write("x.csv", header + first)));
    const { rows } = await sql<{ epochs: number; xids: number; same: boolean }>`
      select count(distinct epoch) as epochs, count(distinct xid) as xids,
        bool_and(epoch = nightwriter.current_epoch() and xid < pg_current_xact_id()) as same
      from sales.sale`.execute(test.db);
    expect(rows).toEqual([{ epochs: 1n, xids: 1n, same: true }]);
  });
});

describe("importSales, called at once", () => {
  it("records a file once, and tells all others that it is known", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const file = await folder.write("x.csv", header + first);
    const results = await Promise.all(Array.from({ length: 4 }, () => importSales(test.database, optionsOf(file))));
    expect(results.map((result) => result.outcome).toSorted()).toEqual([
      "duplicate",
      "duplicate",
      "duplicate",
      "imported",
    ]);
    expect(await rowCounts(test.database)).toEqual({ sales: 2, files: 1, restaurants: 1 });
  });

  it("never counts a line twice when two lengths of a growing file meet", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const short = optionsOf(await folder.write("short.csv", header + first));
    const longer = await folder.write("long.csv", header + first + second);
    const long = optionsOf(longer, { accept: new Set(["grown"]) });
    const [one, other] = await Promise.allSettled([
      importSales(test.database, short),
      importSales(test.database, long),
    ]);
    expect(other.status).toBe("fulfilled");
    // Whichever comes first: the short one adds its two lines and the long one the third, or the short one is an older copy.
    expect([one.status, (await saleLines(test.database)).length]).toEqual([one.status, 3]);
  });

  it("makes a restaurant once when two files need it", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const one = optionsOf(await folder.write("x.csv", header + first));
    const other = optionsOf(await folder.write("y.csv", header + second));
    const results = await Promise.all([importNew(test.database, one), importNew(test.database, other)]);
    expect(results.filter((result) => result.restaurantsCreated === 1)).toHaveLength(1);
    expect(await rowCounts(test.database)).toEqual({ sales: 3, files: 2, restaurants: 1 });
  });

  it("says that it waits for another import, and goes on when that one is done", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const patience = { url: test.url, applicationName: "waiting import", lockTimeoutMs: 50 };
    await using database = openDatabase(patience);
    const file = await folder.write("x.csv", header + first);
    const held = Promise.withResolvers<undefined>();
    const release = Promise.withResolvers<undefined>();
    const holder = test.database.session(async (session) => {
      await session.query("begin");
      await session.query("select pg_advisory_xact_lock(hashtext('nightwriter'), hashtext('sales.import'))");
      held.resolve(undefined);
      await release.promise;
      await session.query("rollback");
    });
    await held.promise;
    const phases: string[] = [];
    const result = await importSales(
      database,
      optionsOf(file, {
        onProgress: ({ phase }) => {
          phases.push(phase);
          release.resolve(undefined);
        },
      }),
    );
    await holder;
    expect(result.outcome).toBe("imported");
    expect(phases[0]).toBe("waiting");
    expect(phases.at(-1)).toBe("recording");
  });
});

describe("importSales, ended early", () => {
  it("leaves nothing behind when its process is killed, and can be called again", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const lines = Array.from({ length: 60_000 }, (_, index) => `01/03/2026 12:00,1.00,R${index % 7}\n`).join("");
    const file = await folder.write("x.csv", `date,amount,city\n${lines}`);
    const child = spawn(process.execPath, [stoppedImport, test.url, file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    expect(line.toString()).toBe("stopped in mid-copy\n");
    child.kill("SIGKILL");
    await once(child, "exit");
    // The lock of the killed one is free once the server has seen it go, and then nothing of it is left.
    const result = await importNew(test.database, optionsOf(file, { restaurant: { column: "city" } }));
    expect(result).toMatchObject({ lines: 60_000, knownLines: 0, restaurantsCreated: 7 });
  });

  it("leaves nothing behind when it is aborted", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const abort = new AbortController();
    const lines = "01/03/2026 12:00,1.00\n".repeat(60_000);
    const file = await folder.write("x.csv", header + lines);
    const interrupted = importSales(
      test.database,
      optionsOf(file, {
        signal: abort.signal,
        onProgress: ({ phase }) => {
          if (phase === "recording") abort.abort(new Error("Ctrl-C"));
        },
      }),
    );
    await expect(interrupted).rejects.toThrow("Ctrl-C");
    expect(await rowCounts(test.database)).toEqual(nothing);
  });

  it("leaves nothing behind when its connection is ended, and says that it can be called again", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    await using database = openDatabase({ url: test.url, applicationName: "broken import", max: 1 });
    const lines = "01/03/2026 12:00,1.00\n".repeat(400_000);
    const file = await folder.write("x.csv", header + lines);
    // A connection to end the other from, there before it is needed.
    await sql`select 1`.execute(test.db);
    let ended: Promise<unknown> = Promise.resolve();
    const broken = importSales(
      database,
      optionsOf(file, {
        onProgress: ({ phase, lines: read }) => {
          if (phase !== "recording" || read < 20_000) return;
          ended = sql`
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and application_name = 'broken import'`.execute(test.db);
        },
      }),
    );
    await expect(broken).rejects.toMatchObject({ name: "SqlFault", retryable: true });
    await ended;
    expect(await rowCounts(test.database)).toEqual(nothing);
    expect((await importNew(test.database, optionsOf(file))).lines).toBe(400_000);
  });

  it("refuses a file that is changed while it is read", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const lines = "01/03/2026 12:00,1.00\n".repeat(60_000);
    const file = await folder.write("x.csv", header + lines);
    const other = header + lines.replaceAll("1.00", "9.00");
    const options = optionsOf(file, {
      onProgress: ({ phase }) => {
        // At once: before the next piece is read.
        if (phase === "recording") writeFileSync(file, other);
      },
    });
    await expect(importSales(test.database, options)).rejects.toMatchObject({ code: "file_changed", retryable: true });
    expect(await rowCounts(test.database)).toEqual(nothing);
  });

  it("records what it found at first when a till writes on meanwhile, and the rest the next time", async () => {
    await using folder = await temporaryFolder();
    await using test = await testDatabase();
    const lines = "01/03/2026 12:00,1.00\n".repeat(60_000);
    const file = await folder.write("x.csv", header + lines);
    let appended: Promise<unknown> | undefined;
    const options = optionsOf(file, {
      onProgress: ({ phase }) => {
        if (phase === "recording") appended ??= appendFile(file, second);
      },
    });
    expect((await importNew(test.database, options)).lines).toBe(60_000);
    await appended;
    expect(await importNew(test.database, optionsOf(file))).toMatchObject({ lines: 1, knownLines: 60_000 });
  });
});
