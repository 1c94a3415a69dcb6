/**
 * A storm over a night whose queue is in PostgreSQL too: real workers under leases, of which one is killed and one frozen past the end of
 * its leases, while connections are ended, items cancelled and keys paused in mid-write, and every item is delivered more than once. What is
 * drawn at random comes from one seed. All the while somebody verifies.
 */
import { systemClock } from "@nightwriter/core";
import { openDatabase } from "@nightwriter/database";
import { getJob } from "@nightwriter/job";
import { closeGates, type VerifyReport, verify } from "@nightwriter/ledger";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { reconcile } from "@nightwriter/run";
import { type App, type Randomness, seededRandom } from "@nightwriter/testkit";
import { sql } from "kysely";
import { expect, it } from "vitest";
import { weatherproof } from "../ledger/weatherproof.ts";
import { expectExact, type Night, planNight, until } from "./night.ts";

const restaurants = 3_000;

/** Earlier runs, of which the statistics know: with some of them the server plans the write in another way. */
async function addHistory({ db }: Night): Promise<void> {
  await sql`insert into nightwriter.run (job_id, business_date, kind, request_id, planned_at, finished_at)
    select 1, '2026-01-01'::date + night, 'manual', 'earlier ' || night, now(), now()
    from generate_series(1, 40) as night`.execute(db);
  await sql`vacuum analyze`.execute(db);
}

/** Ends connections of workers, to the facts and to the queue, whose database is another; of each, one with a statement under way if there is one. */
async function terminate({ db }: Night, random: Randomness): Promise<{ writing: number; queueing: number }> {
  const { rows } = await sql<{ is_queue: boolean }>`select it.is_queue, pg_terminate_backend(it.pid) from (
      select distinct on (is_queue) pid, datname <> current_database() as is_queue
      from pg_stat_activity where application_name like 'storm-%'
      order by is_queue, state = 'active' desc, md5(pid || ${String(random.next())}::text)) as it`.execute(db);
  const queueing = rows.filter(({ is_queue }) => is_queue).length;
  return { writing: rows.length - queueing, queueing };
}

/** As a verb does: behind the gate of the run, whose revision is raised. Answers whether the item was still to be applied. */
async function cancel({ db, runId }: Night, key: string): Promise<boolean> {
  const cancelled = await weatherproof(async () =>
    db.transaction().execute(async (transaction) => {
      await closeGates(transaction, [runId]);
      const { rows } = await sql`update nightwriter.run_item as it set status = 'cancelled'
        where run_id = ${runId} and key = ${key} and not exists (
          select from nightwriter.ledger_entry as entry where entry.run_id = it.run_id and entry.key = it.key)
        returning key`.execute(transaction);
      await sql`update nightwriter.run set revision = revision + 1 where id = ${runId}`.execute(transaction);
      return rows.length > 0;
    }),
  );
  return cancelled ?? false;
}

async function pause({ db }: Night, key: string, isPaused: boolean): Promise<void> {
  const at = isPaused ? sql`clock_timestamp()` : sql`null`;
  await sql`update nightwriter.key_total set paused_at = ${at} where key = ${key}`.execute(db);
}

async function verified({ databaseUrl, database }: Night): Promise<VerifyReport> {
  await using own = openDatabase({ url: databaseUrl, applicationName: "verify", statementTimeoutMs: 0 });
  return await verify(own, await getJob(database, restaurantTotals), { now: systemClock.now() });
}

/** Verifies again and again until it is ended, or the night is over. */
function verifyOnAndOn(night: Night): AsyncDisposable & { end(): Promise<readonly VerifyReport[]> } {
  const over = new AbortController();
  const reporting = (async () => {
    const reports: VerifyReport[] = [];
    while (!over.signal.aborted) reports.push(await verified(night));
    return reports;
  })();
  const end = async (): Promise<readonly VerifyReport[]> => {
    over.abort();
    return reporting;
  };
  return { end, [Symbol.asyncDispose]: async () => void (await end()) };
}

/** What the queue has lost is put there again, as by a scheduler. */
async function mend({ database, queues }: Night): Promise<void> {
  const job = await getJob(database, restaurantTotals);
  const { name } = restaurantTotals;
  await reconcile({ database, job, queues: { partition: (partition) => queues.partition(name, partition) } });
}

const violations = ({ rules }: VerifyReport) => rules.flatMap((rule) => rule.violations);

it("a storm over a night with its queue in PostgreSQL leaves totals exact, and verify clean all the while", {
  timeout: 300_000,
}, async () => {
  const random = seededRandom();
  await using night = await planNight({ store: "postgres", restaurants });
  await addHistory(night);
  const start = async (name: string): Promise<App> =>
    night.startWorker(`storm-${name}`, {
      LEASE_URL: night.databaseUrl,
      LEASE_MS: "3000",
      WORKER_CONCURRENCY: "10",
      BATCH_SIZE: "5",
    });
  const killed = await start("killed");
  const frozen = await start("frozen");
  await start("lucky");
  const cancelled = new Set<string>();
  const paused = new Set<string>();
  const someKey = (): string => night.keys[random.below(night.keys.length)] ?? "";

  await using verifying = verifyOnAndOn(night);

  await night.enqueue({ generations: 2 });
  const ended = { writing: 0, queueing: 0 };
  for (let step = 0, applied = 0; applied < restaurants - cancelled.size - paused.size; step += 1) {
    if (applied > restaurants / 5) killed.signal("SIGKILL");
    if (applied > restaurants / 3) frozen.signal("SIGSTOP");
    if (step % 3 === 0) {
      const { writing, queueing } = await terminate(night, random);
      ended.writing += writing;
      ended.queueing += queueing;
    }
    const [key, next] = [someKey(), someKey()];
    if (!paused.has(key) && (await cancel(night, key))) cancelled.add(key);
    for (const each of [...paused].slice(0, 1 + random.below(2))) {
      await pause(night, each, false);
      paused.delete(each);
    }
    if (applied < restaurants / 2 && !cancelled.has(next)) {
      await pause(night, next, true);
      paused.add(next);
    }
    if (step % 10 === 9) await mend(night);
    applied = await night.applied();
  }
  frozen.signal("SIGCONT");
  for (const key of paused) await pause(night, key, false);
  await until(async () => {
    await mend(night);
    expect(await night.applied()).toBe(restaurants - cancelled.size);
  }, 60_000);
  const reports = await verifying.end();

  await expectExact(night, [...cancelled]);
  // It was a storm.
  expect(await killed.exited).toMatchObject({ signal: "SIGKILL" });
  for (const count of [cancelled.size, ended.writing, ended.queueing]) expect(count).toBeGreaterThan(5);
  expect(reports.length).toBeGreaterThan(1);
  expect(reports.flatMap(violations)).toEqual([]);
  const last = await verified(night);
  expect(violations(last)).toEqual([]);
  expect(last.outstandingSums.map(({ reason, pairCount }) => [reason, pairCount])).toEqual(
    cancelled.size === 0 ? [] : [["cancelled", cancelled.size]],
  );
  // Who verifies would have seen it.
  await sql`update nightwriter.key_total set total_minor = total_minor + 1 where key = ${night.keys[0] ?? ""}`.execute(
    night.db,
  );
  expect(violations(await verified(night))).toMatchObject([{ rule: "total-row" }]);
});
