/** The proof that every total is what its sources say: see rules/, one file for each rule. */
import { type Database, type Schema, sqlFault } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type Kysely, sql } from "kysely";
import { scanChain } from "./rules/chain-scan.ts";
import { sliceDates } from "./rules/date-slices.ts";
import { findWrongDeltas } from "./rules/delta-from-snapshot.ts";
import { type Differences, findDifferences } from "./rules/entries-equal-sources.ts";
import { findRepeatedItems } from "./rules/entry-per-item.ts";
import { findMissingGuards } from "./rules/guards.ts";
import type { DateRange, Inspection } from "./rules/inspection.ts";
import { scanItems } from "./rules/item-scan.ts";
import type { DifferingPair } from "./rules/outstanding.ts";
import { isEmpty, joinScopes, nothingInScope, type PairScope, scanPairs } from "./rules/pair-scan.ts";
import { claims, type Finding, type RuleName } from "./rules/rule.ts";
import { scanRuns } from "./rules/run-scan.ts";
import { findWrongTerms, scanTerms } from "./rules/term-scan.ts";
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
  /** Entries that are worth a scan of their own; it decides how long it takes, not what is found. Default: 100,000. */
  readonly sliceEntries?: number;
  /**
   * Given every pair whose entries differ from its source, in order of date and key, up to a thousand at a time, where the report lists the
   * first ones. Waited for; what it throws, verify throws. Never called by a build whose source query is not in force.
   */
  readonly onPairs?: (pairs: readonly DifferingPair[]) => Promise<void>;
  /** Called as each step ends. */
  readonly onProgress?: (progress: VerifyProgress) => void;
}

export interface VerifyProgress {
  readonly step: string;
  readonly done: number;
  readonly of: number;
}

/** A pass over the data. */
interface Step {
  readonly name: string;
  readonly find: (inspection: Inspection) => Promise<readonly Finding[]>;
}

/** What only the source query in force can say; another build's sums other things, or the same ones by another name. */
const sourceRules: ReadonlySet<RuleName> = new Set(["delta-from-snapshot", "entries-equal-sources"]);

/** What is left of the rules about pairs when no source is asked. */
const repeatedItems: Step = { name: "pairs", find: async (inspection) => findRepeatedItems(inspection, "all") };

type Summary = Pick<
  VerifyReport,
  "entryCount" | "keyCount" | "earlierQueryCount" | "earlierTermCount" | "totalMinor" | "epochs"
>;

/**
 * Proves every rule of {@link claims} over the job's whole ledger, in SQL, read only, on one snapshot: it can run beside workers
 * and planners. Nothing is repaired.
 *
 * Two connections are used at a time, and on the server up to 512 MB of memory for each of the hash tables of two statements, beyond which they spill to disk. Open the database
 * with `statementTimeoutMs: 0`: a pool with timeouts gives up on its own. Throws SqlFault; nothing is then known.
 *
 * A build whose source query is not the one in force cannot ask the rules about sources: they are named as `unproved`, the others
 * are proved all the same.
 *
 * A job whose source is `lookback` cannot say what a snapshot saw: `delta-from-snapshot` is then not applicable.
 *
 * @example
 * const report = await verify(database, job, { now: systemClock.now() });
 * if (!report.clean || report.unproved.length > 0) process.exitCode = 3;
 */
export async function verify(database: Database, job: Job, options: VerifyOptions): Promise<VerifyReport> {
  return prove(database, new Verification(job, options));
}

/** As {@link verify}, but lists these findings only, wherever they stand; what is counted means nothing. */
export async function findFindings(
  database: Database,
  job: Job,
  { findings, ...options }: VerifyOptions & { readonly findings: readonly string[] },
): Promise<VerifyReport> {
  return prove(database, new Verification(job, { ...options, listed: Number.MAX_SAFE_INTEGER }, findings));
}

async function prove(database: Database, verification: Verification): Promise<VerifyReport> {
  const start = performance.now();
  try {
    await onSharedSnapshot(database, 2, await verification.tasks(database.db));
  } catch (error) {
    throw sqlFault(error);
  }
  return verification.report(performance.now() - start);
}

/** What is known so far in one call of verify. */
class Verification {
  readonly #job: Job;
  readonly #options: VerifyOptions;
  readonly #only: readonly string[] | undefined;
  readonly #findings: Finding[] = [];
  readonly #durations: StepReport[] = [];
  /** What the slices that were scanned have left to be looked at, and how many there were. */
  #scope: PairScope = nothingInScope;
  #scanned = 0;
  #differences: Differences = { findings: [], sums: [], outstanding: [] };
  #summary: Summary = {
    entryCount: 0,
    keyCount: 0,
    earlierQueryCount: 0,
    earlierTermCount: 0,
    totalMinor: 0n,
    epochs: [],
  };

  constructor(job: Job, options: VerifyOptions, only?: readonly string[]) {
    this.#only = only;
    this.#job = job;
    this.#options = options;
  }

  /** The slices are all dates whatever was counted: an entry that comes before the snapshot is taken only makes one larger. */
  async tasks(db: Kysely<Schema>): Promise<SnapshotTask[]> {
    const { listed = 100, namedPairs = 100_000, sliceEntries = 100_000, onProgress } = this.#options;
    const asked = { job: this.#job, ...this.#dates(), listed, namedPairs, only: this.#only };
    const steps = this.#steps(await sliceDates({ db, ...asked, sliceEntries }));
    return steps.map(({ name: step, find }) => async (transaction) => {
      const start = performance.now();
      this.#findings.push(...(await find({ db: transaction, ...asked })));
      this.#durations.push({ step, durationMs: performance.now() - start });
      onProgress?.({ step, done: this.#durations.length, of: steps.length });
    });
  }

  /** In the order in which they are begun: whole tables, then slices, then what is short. */
  #steps(slices: readonly DateRange[]): Step[] {
    const pairs = this.#job.isCurrent ? slices.map((slice) => this.#sliceStep(slice, slices.length)) : [repeatedItems];
    return [
      { name: "chain", find: scanChain },
      { name: "items", find: scanItems },
      ...pairs,
      { name: "total rows", find: findTotalRows },
      { name: "versions", find: findForks },
      {
        name: "terms",
        find: async (inspection) => [...(await scanTerms(inspection)), ...(await findWrongTerms(inspection))],
      },
      { name: "runs", find: scanRuns },
      { name: "guards", find: findMissingGuards },
      { name: "summary", find: async (inspection) => this.#summarize(inspection) },
    ];
  }

  #sliceStep(slice: DateRange, sliceCount: number): Step {
    return { name: "pairs", find: async (inspection) => this.#scanSlice({ ...inspection, ...slice }, sliceCount) };
  }

  /** Whoever is done with the last slice asks the rules about pairs, of what all slices have left. */
  async #scanSlice(slice: Inspection, sliceCount: number): Promise<readonly Finding[]> {
    if (this.#scope !== "all") {
      const scope = await scanPairs(slice);
      this.#scope = joinScopes(this.#scope, scope, slice);
    }
    this.#scanned++;
    if (this.#scanned < sliceCount) return [];
    return this.#provePairs({ ...slice, ...this.#dates() }, this.#scope);
  }

  async #summarize(inspection: Inspection): Promise<readonly Finding[]> {
    this.#summary = await summarize(inspection);
    return [];
  }

  async #provePairs(inspection: Inspection, scope: PairScope): Promise<readonly Finding[]> {
    if (isEmpty(scope)) return [];
    this.#differences = await findDifferences(inspection, scope, this.#options);
    return [
      ...this.#differences.findings,
      ...(await findRepeatedItems(inspection, scope)),
      ...(this.#isApplicable("delta-from-snapshot") ? await findWrongDeltas(inspection, scope) : []),
    ];
  }

  #dates(): DateRange {
    const { from, to } = this.#options;
    return { from: from?.toString(), to: to?.toString() };
  }

  #isApplicable(rule: RuleName): boolean {
    return rule !== "delta-from-snapshot" || this.#job.definition.source.kind === "stamped";
  }

  #statusUnbroken(rule: RuleName): RuleReport["status"] {
    if (!this.#isApplicable(rule)) return "not applicable";
    return this.#job.isCurrent || !sourceRules.has(rule) ? "holds" : "not proved";
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
      acknowledgedCount: rules.reduce((sum, rule) => sum + rule.acknowledgedCount, 0),
      unproved: rules.filter(({ status }) => status === "not proved").map(({ rule }) => rule),
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
    const acknowledgedCount = found.reduce((sum, finding) => sum + finding.acknowledgedCount, 0);
    const unbroken = acknowledgedCount > 0 ? "acknowledged" : this.#statusUnbroken(rule);
    const listed = this.#options.listed ?? 100;
    return {
      rule,
      claim: claims[rule],
      status: violationCount > 0 ? "violated" : unbroken,
      violationCount,
      violations: found.flatMap((finding) => finding.violations).slice(0, listed),
      acknowledgedCount,
      acknowledged: found.flatMap((finding) => finding.acknowledged).slice(0, listed),
    };
  }
}

async function summarize({ db, job }: Inspection): Promise<Summary> {
  const id = sql`${job.id}::integer`;
  const { rows } = await sql<{ entries: bigint; earlier: bigint; untold: bigint; keys: bigint; total: string }>`
    select entry.entries, entry.earlier, entry.untold, key.keys, key.total
    from (
      select coalesce(sum(used.entries), 0)::bigint as entries,
        coalesce(sum(used.entries) filter (where used.query_version = any(${job.otherVersions}::integer[])), 0)::bigint as earlier,
        coalesce(sum(used.entries) filter (
          where used.fencing_token <= (select ended_terms_after from nightwriter.job where id = ${id})
            and used.fencing_token not in (select fencing_token from nightwriter.partition_term where job_id = ${id})
            and used.fencing_token not in (select fencing_token from nightwriter.ended_term where job_id = ${id})
        ), 0)::bigint as untold
      from (
        select fencing_token, query_version, count(*) as entries
        from nightwriter.ledger_entry where job_id = ${id} group by fencing_token, query_version
      ) as used
    ) as entry, (
      select count(*) as keys, coalesce(sum(total_minor), 0)::text as total
      from nightwriter.key_total where job_id = ${id}
    ) as key`.execute(db);
  const epochs = await db.selectFrom("nightwriter.epoch").selectAll().orderBy("epoch").execute();
  return {
    entryCount: Number(rows[0]?.entries ?? 0n),
    keyCount: Number(rows[0]?.keys ?? 0n),
    earlierQueryCount: Number(rows[0]?.earlier ?? 0n),
    earlierTermCount: Number(rows[0]?.untold ?? 0n),
    totalMinor: BigInt(rows[0]?.total ?? 0),
    epochs: epochs.map((row) => ({
      epoch: row.epoch,
      startedAt: row.started_at.toTemporalInstant(),
    })),
  };
}
