/**
 * Parks one item and logs the answer; or, told `round-trips`, closes the run's gate in a transaction of its own and comes back for
 * the next statement, as a park of several round trips does. Whoever froze it meanwhile sees what that keeps closed.
 */
import { openDatabase } from "@nightwriter/database";
import { ensureJob } from "@nightwriter/job";
import { parkItems } from "@nightwriter/ledger";
import { readTerms } from "@nightwriter/partition";
import { restaurantTotals } from "@nightwriter/restaurant-totals";

const [, , manner = "", runId = "", key = "", businessDate = ""] = process.argv;
await using database = openDatabase({
  url: process.env["DATABASE_URL"] ?? "",
  applicationName: "parker",
  max: 1,
  lockTimeoutMs: 20_000,
});
if (manner === "round-trips") {
  await database.session(async (session) => {
    await session.query("begin");
    await session.query("select pg_advisory_xact_lock(1853321831, $1::integer)", [runId]);
    await session.query("select id from nightwriter.run where id = $1 for no key update", [runId]);
    await session.query("commit");
  });
} else {
  const job = await ensureJob(database, restaurantTotals);
  const [term] = await readTerms(database, job);
  if (term === undefined) throw new Error("the job has no partition");
  const outcome = { outcome: "parked", sqlstate: "22003", reason: "planted" } as const;
  const parked = [{ item: { runId: BigInt(runId), key, businessDate }, outcome }];
  const answers = await parkItems(database, { job, term, parked, worker: "parker" });
  console.log(JSON.stringify({ msg: "parked", answers }));
}
