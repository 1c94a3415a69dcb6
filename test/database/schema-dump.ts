/** The schema of a database as text. */

import { join } from "node:path";
import { ensureServer } from "@nightwriter/services";
import { execa } from "execa";

const header = `-- The schema as the migrations make it, for people to read and for reviews: nothing is ever loaded from it.
-- Made by: pnpm vitest run --project service -u test/database/schema.test.ts
`;

/** What differs from one pg_dump to the next: versions in comments, session settings, psql commands with random keys. */
const unstable = /^(?:--|SET |SELECT pg_catalog\.set_config|\\)/;

/** What pg_dump of PostgreSQL 15 says of a database on a server of that version: the same text for the same schema. */
export async function dumpSchema(url: string): Promise<string> {
  const program = join(await ensureServer("postgres-15"), "pg_dump");
  const { stdout } = await execa(program, ["--schema-only", "--no-owner", `--dbname=${url}`]);
  const lines = stdout.split("\n").filter((line) => !unstable.test(line));
  return `${header}\n${lines
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim()}\n`;
}
