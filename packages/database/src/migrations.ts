/** What a build knows of the schema: a list, not a folder. A migration's number is its place in it. */
import type { Migration } from "kysely/migration";
import * as engine from "../migrations/0001-engine.ts";
import * as sales from "../migrations/0002-sales.ts";
import * as fleet from "../migrations/0003-fleet.ts";
import * as byDate from "../migrations/0004-by-date.ts";
import * as queryVersion from "../migrations/0005-query-version.ts";
import * as hardening from "../migrations/0006-hardening.ts";
import type { ConcurrentIndex } from "./concurrent-indexes.ts";

/** A step, and the indexes of large tables that are built after it. */
export interface SchemaMigration extends Migration {
  readonly indexes?: readonly ConcurrentIndex[];
}

export type Migrations = Readonly<Record<string, SchemaMigration>>;

/** Every migration of this build, oldest first. Names are never changed and never removed. */
export const migrations: Migrations = {
  "0001-engine": engine,
  "0002-sales": sales,
  "0003-fleet": fleet,
  "0004-by-date": byDate,
  "0005-query-version": queryVersion,
  "0006-hardening": hardening,
};
