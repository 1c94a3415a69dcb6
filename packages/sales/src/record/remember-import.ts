/** The row that an import leaves behind: how the next one knows it. */
import { invariant } from "@nightwriter/core";
import type { Database, Session } from "@nightwriter/database";
import { name } from "../read/content.ts";
import type { SalesSchema } from "../schema.ts";
import { hashGoodLines } from "./good-lines.ts";
import type { ImportOptions } from "./import-options.ts";
import type { KnownContent } from "./known-content.ts";
import type { Reading } from "./reading.ts";

export interface ReservedImport {
  readonly id: bigint;
  /** What `sales.sale.source` says of its rows. */
  readonly source: string;
}

/** The number of an import that is about to be. Numbers of imports that come to nothing are not used again, but for those of dry runs. */
export async function reserveImport(
  session: Session,
  { dryRun }: { readonly dryRun: boolean },
): Promise<ReservedImport> {
  const next = dryRun
    ? "select coalesce(max(id), 0) + 1 as id from sales.import"
    : "select nextval('sales.import_id_seq') as id";
  const [row] = await session.query<{ id: bigint }>(next);
  invariant(row !== undefined, "there is always a next number");
  return { id: row.id, source: `file:${row.id}` };
}

/** What became of the file. */
export interface Recorded {
  /** Sales of the file. */
  readonly kept: number;
  readonly added: number;
  readonly known: number;
  readonly corrected: number;
  readonly takenBack: number;
  readonly leftOut: number;
  /** The values that the filter names and lines had, by column. */
  readonly seen: Readonly<Record<string, readonly string[]>>;
  readonly skipped: number;
  /** The bad lines; undefined: there were too many to know them by. */
  readonly badLines: readonly number[] | undefined;
  readonly sums: ReadonlyMap<string, bigint>;
  readonly businessDates: readonly Temporal.PlainDate[];
  readonly newest: string | undefined;
}

export interface RememberedImport {
  readonly options: ImportOptions;
  readonly content: KnownContent;
  readonly reading: Reading;
  readonly reserved: ReservedImport;
  readonly recorded: Recorded;
}

/** Records that a content was imported, and what it came to. */
export async function rememberImport(
  session: Session,
  { db }: Database,
  { options, content, reading, reserved, recorded }: RememberedImport,
): Promise<void> {
  const { file, skipBad, actor, given = {} } = options;
  const { print, scope, known } = content;
  const bad = badLines(content, recorded);
  await session.run(
    db
      .withTables<SalesSchema>()
      .insertInto("sales.import")
      .values({
        id: reserved.id,
        continues: known?.by.id ?? null,
        restaurant_id: scope.restaurantId,
        feed: scope.feed,
        content_hash: print.contentHash,
        byte_count: BigInt(print.byteCount),
        line_count: BigInt(print.lineCount),
        line_hashes: [...print.lineHashes],
        name: name(file),
        source: reserved.source,
        first_line: 1n,
        last_line: print.lineCount,
        ends_line: print.endsLine,
        bad_lines: bad.map(BigInt),
        good_hash: bad.length === 0 ? null : await hashGood(options, { lineCount: print.lineCount, bad }),
        skip_file: recorded.skipped > 0 ? (skipBad ?? null) : null,
        reading: JSON.stringify(reading),
        options: JSON.stringify(given),
        kept: recorded.kept,
        added: recorded.added,
        known: recorded.known,
        corrected: recorded.corrected,
        taken_back: recorded.takenBack,
        left_out: recorded.leftOut,
        seen_values: JSON.stringify(recorded.seen),
        skipped: recorded.skipped,
        sums: JSON.stringify(Object.fromEntries(Array.from(recorded.sums, ([code, minor]) => [code, String(minor)]))),
        first_date: recorded.businessDates[0]?.toString() ?? null,
        last_date: recorded.businessDates.at(-1)?.toString() ?? null,
        newest: recorded.newest ?? null,
        actor: actor?.name ?? null,
        host: actor?.host ?? null,
      })
      .compile(),
  );
  if (known !== undefined) {
    await session.query("insert into sales.import_need (import_id, needs_id) values ($1, $2)", [
      reserved.id,
      known.by.id,
    ]);
  }
}

/** Lines that nothing is recorded of: those that the import before left out and this one did not look at are among them. */
function badLines({ known }: KnownContent, { badLines: bad }: Recorded): number[] {
  if (bad === undefined) return [];
  const before = known?.by.badLines.map(Number).filter((line) => !known.except.has(line)) ?? [];
  return [...before, ...bad].toSorted((one, other) => one - other);
}

async function hashGood(
  { file, signal }: ImportOptions,
  { lineCount, bad }: { readonly lineCount: number; readonly bad: readonly number[] },
): Promise<string | null> {
  const [hash] = await hashGoodLines({ file, signal }, [{ lineCount, except: new Set(bad) }]);
  return hash ?? null;
}
