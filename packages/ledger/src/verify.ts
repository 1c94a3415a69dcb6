/** The proof that every total is what its sources say: see rules/, one file for each rule. */
import { type Database, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { sql } from "kysely";
import { scanChain } from "./rules/chain-scan.ts";
import { findWrongDeltas } from "./rules/delta-from-snapshot.ts";
import { type Differences, findDifferences } from "./rules/entries-equal-sources.ts";
import { findRepeatedItems } from "./rules/entry-per-item.ts";
import type { Inspection } from "./rules/inspection.ts";
import { scanItems } from "./rules/item-scan.ts";
import { isEmpty, type PairScope, scanPairs } from "./rules/pair-scan.ts";
import { claims, type Finding, type RuleName } from "./rules/rule.ts";
import { findTotalRows } from "./rules/total-row.ts";
import { findForks } from "./rules/version-sequence.ts";
import { onSharedSnapshot, type SnapshotTask } from "./shared-snapshot.ts";
import type { RuleReport, StepReport, VerifyReport } from "./verify-report.ts";

export interface VerifyOptions {
  /** First business date of the rules about dates. Default: the first there is. Chains and items are proved whole. */
  readonly from?: Temporal.PlainDate;
  /** Last one, included. */
  readonly to?: Temporal.PlainDate;
  /** What ages are counted to. */
  readonly now: Temporal.Instant;
  /** Violations of a rule, and outstanding pairs of a reason, that are listed. All are counted. Default: 100. */
  readonly listed?: number;
  /**
   * Pairs that are no plain case are looked at one by one, if they are not more than these; else everything is. It decides how long
   * it takes, not what is found. Default: 100,000.
   */
  readonly namedPairs?: number;
  /** Called as each step ends. */
  readonly onProgress?: (progress: VerifyProgress) => void;
}

export interface VerifyProgress {
  readonly step: string;
  readonly done: number;
  readonly of: number;
}

/** Each step's name, in the order in which they are begun: the longest first. */
const steps = ["pairs", "chain", "items", "total rows", "versions", "summary"] as const;
type StepName = (typeof steps)[number];

type Summary = Pick<VerifyReport, "entryCount" | "keyCount" | "totalMinor" | "epochs">;

/**
 * Proves every rule of {@link claims} over the job's whole ledger, in SQL, read only, on one snapshot: it can run beside workers
 * and planners. Nothing is repaired.
 *
 * Two connections are used at a time, and on the server up to 512 MB of memory for each of the hash tables of two statements, beyond which they spill to disk. Open the database
 * with `statementTimeoutMs: 0`: a pool with timeouts gives up on its own. Throws SqlFault; nothing is then known.
 *
 * A job whose source is `lookback` cannot say what a snapshot saw: `delta-from-snapshot` is then not applicable.
 *
 * @example
 * const report = await verify(database, job, { now: systemClock.now() });
 * if (!report.clean) process.exitCode = 3;
 */
export async function verify(database: Database, job: Job, options: VerifyOptions): Promise<VerifyReport> {
  const verification = new Verification(job, options);
  const start = performance.now();
  try {
    await onSharedSnapshot(database, 2, verification.tasks());
  } catch (error) {
    throw sqlFault(error);
  }
  return verification.report(performance.now() - start);
}

/** What is known so far in one call of verify. */
class Verification {
  readonly #job: Job;
  readonly #options: VerifyOptions;
  readonly #findings: Finding[] = [];
  readonly #durations: StepReport[] = [];
  #differences: Differences = { findings: [], sums: [], outstanding: [] };
  #summary: Summary = { entryCount: 0, keyCount: 0, totalMinor: 0n, epochs: [] };

  constructor(job: Job, options: VerifyOptions) {
    this.#job = job;
    this.#options = options;
  }

  tasks(): SnapshotTask[] {
    return steps.map((step) => async (db) => {
      const { from, to, listed = 100, namedPairs = 100_000, onProgress } = this.#options;
      const inspection = { db, job: this.#job, from: from?.toString(), to: to?.toString(), listed, namedPairs };
      const start = performance.now();
      this.#findings.push(...(await this.#run(step, inspection)));
      this.#durations.push({ step, durationMs: performance.now() - start });
      onProgress?.({ step, done: this.#durations.length, of: steps.length });
    });
  }

  async #run(step: StepName, inspection: Inspection): Promise<Finding[]> {
    switch (step) {
      case "pairs":
        return this.#provePairs(inspection, await scanPairs(inspection));
      case "chain":
        return scanChain(inspection);
      case "items":
        return scanItems(inspection);
      case "total rows":
        return findTotalRows(inspection);
      case "versions":
        return findForks(inspection);
      case "summary":
        this.#summary = await summarize(inspection);
        return [];
    }
  }

  async #provePairs(inspection: Inspection, scope: PairScope): Promise<Finding[]> {
    if (isEmpty(scope)) return [];
    this.#differences = await findDifferences(inspection, scope, this.#options.now);
    return [
      ...this.#differences.findings,
      ...(await findRepeatedItems(inspection, scope)),
      ...(this.#isApplicable("delta-from-snapshot") ? await findWrongDeltas(inspection, scope) : []),
    ];
  }

  #isApplicable(rule: RuleName): boolean {
    return rule !== "delta-from-snapshot" || this.#job.definition.source.kind === "stamped";
  }

  report(durationMs: number): VerifyReport {
    const { from, to, now } = this.#options;
    const rules = (Object.keys(claims) as RuleName[]).map((rule) => this.#reportOf(rule));
    return {
      job: this.#job.definition.name,
      verifiedAt: now,
      from,
      to,
      clean: rules.every((rule) => rule.violationCount === 0),
      rules,
      outstandingSums: this.#differences.sums,
      outstanding: this.#differences.outstanding,
      ...this.#summary,
      steps: this.#durations,
      durationMs,
    };
  }

  #reportOf(rule: RuleName): RuleReport {
    const found = this.#findings.filter((finding) => finding.rule === rule);
    const violationCount = found.reduce((sum, finding) => sum + finding.violationCount, 0);
    const status = violationCount > 0 ? "violated" : this.#isApplicable(rule) ? "holds" : "not applicable";
    const violations = found.flatMap((finding) => finding.violations).slice(0, this.#options.listed ?? 100);
    return { rule, claim: claims[rule], status, violationCount, violations };
  }
}

async function summarize({ db, job }: Inspection): Promise<Summary> {
  const { rows } = await sql<{ entries: bigint; keys: bigint; total: string }>`
    select (select count(*) from nightwriter.ledger_entry where job_id = ${job.id}::integer) as entries,
      count(*) as keys, coalesce(sum(total_minor), 0)::text as total
    from nightwriter.key_total
    where job_id = ${job.id}::integer`.execute(db);
  const epochs = await db.selectFrom("nightwriter.epoch").selectAll().orderBy("epoch").execute();
  return {
    entryCount: Number(rows[0]?.entries ?? 0n),
    keyCount: Number(rows[0]?.keys ?? 0n),
    totalMinor: BigInt(rows[0]?.total ?? 0),
    epochs: epochs.map((row) => ({
      epoch: row.epoch,
      startedAt: row.started_at.toTemporalInstant(),
    })),
  };
}
