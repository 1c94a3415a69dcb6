import { type Kysely, sql } from "kysely";
import type { ConcurrentIndex } from "../src/concurrent-indexes.ts";
import { acknowledgement } from "./0006-hardening/acknowledgement.ts";
import { attempt } from "./0006-hardening/attempt.ts";
import { audit } from "./0006-hardening/audit.ts";
import { installation } from "./0006-hardening/installation.ts";
import { jobVersion } from "./0006-hardening/job-version.ts";
import { keyPause } from "./0006-hardening/key-pause.ts";
import { parkItems } from "./0006-hardening/park-items.ts";
import { restaurants } from "./0006-hardening/restaurants.ts";
import { scheduler } from "./0006-hardening/scheduler.ts";
import { stamps } from "./0006-hardening/stamps.ts";
import { terms } from "./0006-hardening/terms.ts";
import { totals } from "./0006-hardening/totals.ts";

/** Years of items are read for it, so it is built beside those who plan and write. */
export const indexes: readonly ConcurrentIndex[] = [
  { name: "run_item_parked", table: "nightwriter.run_item", on: "(run_id, parked_for) where status = 'parked'" },
];

/**
 * What an attack taught, one part for each subject. It is one migration, because a build works on its own schema and on the
 * next one only: the build before this one goes on writing beside it while it is deployed.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of parts.flat()) await sql.raw(statement).execute(db);
}

const parts = [
  audit,
  acknowledgement,
  attempt,
  jobVersion,
  keyPause,
  parkItems,
  restaurants,
  stamps,
  scheduler,
  terms,
  totals,
  installation,
];
