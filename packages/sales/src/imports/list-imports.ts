/** The imports of files, and the undos of imports: by whom, when, from what, and what came of it. */
import type { Database } from "@nightwriter/database";
import { ImportFault } from "../import-fault.ts";
import type { Reading } from "../record/reading.ts";

export interface ListedImport {
  readonly id: bigint;
  /** The import, or undo, that it undoes; null: it is an import. */
  readonly undoes: bigint | null;
  /** Whether what it did holds: it was not undone, or its undo was. */
  readonly isInForce: boolean;
  /** What undid it; null: it is in force. */
  readonly undoneBy: bigint | null;
  /** Null: a column of the file says whose lines they are. */
  readonly restaurant: string | null;
  /** `--source`; empty: none was named. */
  readonly feed: string;
  readonly file: string;
  readonly importedAt: Date;
  /** Null: a build that did not note it. */
  readonly actor: string | null;
  readonly host: string | null;
  readonly reason: string | null;
  /** Sales of the file, and what became of them. */
  readonly kept: bigint;
  readonly added: bigint;
  readonly known: bigint;
  readonly corrected: bigint;
  readonly takenBack: bigint;
  readonly leftOut: bigint;
  readonly skipped: bigint;
  /** What it added, in minor units by currency, as text. */
  readonly sums: Readonly<Record<string, string>>;
  /** Business dates of what it added. */
  readonly firstDate: string | null;
  readonly lastDate: string | null;
}

/** One of them, with all that is kept about it. */
export interface ShownImport extends ListedImport {
  /** What `sales.sale.source` says of its rows. */
  readonly source: string;
  readonly contentHash: string | null;
  /** Lines of the file, the header and what stands before it too. */
  readonly lineCount: bigint | null;
  readonly skipFile: string | null;
  /** The options that decide how it was read, as on the command line; null: not noted. */
  readonly reading: Reading | null;
  /** All options of the command line, by name, as they were given there; empty: none were noted. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Imports that it built on, and those in force that built on it: these are undone first. */
  readonly needs: readonly bigint[];
  readonly neededBy: readonly bigint[];
}

export interface ListOptions {
  /** Only those of this restaurant, or of a file that names its restaurants. Default: all. */
  readonly restaurant?: string;
  /** The newest so many. */
  readonly limit: number;
}

/** The newest first. */
export async function listImports(
  database: Database,
  { restaurant, limit }: ListOptions,
): Promise<readonly ListedImport[]> {
  return database.session((session) =>
    session.query<ListedImport>(
      `${chain} select ${columns} from sales.import join chain using (id)
       where $1::text is null or restaurant_id = $1 or restaurant_id is null
       order by id desc limit $2`,
      [restaurant ?? null, limit],
    ),
  );
}

/** Throws ImportFault `import_unknown`. */
export async function showImport(database: Database, id: bigint): Promise<ShownImport> {
  const [shown] = await database.session((session) =>
    session.query<ShownImport>(
      `${chain} select ${columns}, source, content_hash as "contentHash", line_count as "lineCount", skip_file as "skipFile", reading, options,
         array(select needs_id from sales.import_need where import_id = import.id order by 1) as needs,
         array(select import_id from sales.import_need join chain as later on later.id = import_id
           where needs_id = import.id and later.is_in_force order by 1) as "neededBy"
       from sales.import join chain using (id) where id = $1`,
      [id],
    ),
  );
  if (shown === undefined) throw unknownImport(id);
  return shown;
}

export function unknownImport(id: bigint): ImportFault {
  return new ImportFault("import_unknown", `import ${id}: is not known; see: nightwriter imports list`, {
    details: { import: id },
  });
}

/** Each import with the undo of it, the undo of that, and so on: in force are those of which an even number follows. */
export const chain = `with recursive undone as (
    select id, id as last, 0 as depth from sales.import
    union all
    select undone.id, next.id, depth + 1 from undone join sales.import next on next.undoes = undone.last
  ), chain as (
    select distinct on (id) id, last, depth % 2 = 0 as is_in_force from undone order by id, depth desc
  )`;

const columns = `id, undoes, is_in_force as "isInForce", case when is_in_force then null else last end as "undoneBy",
  restaurant_id as restaurant, feed, name as file, imported_at as "importedAt", actor, host, reason, kept, added, known, corrected,
  taken_back as "takenBack", left_out as "leftOut", skipped, sums, first_date::text as "firstDate", last_date::text as "lastDate"`;
