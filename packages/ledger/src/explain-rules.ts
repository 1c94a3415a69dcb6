/** What verify proves and what it cannot see, in words: for whoever asks what "every rule holds" is worth. */
import { claims, type RuleName } from "./rules/rule.ts";

/** What `verify` is worth, for every job. */
export interface RulesExplanation {
  /** Every rule with what it claims, in the order of a report. */
  readonly rules: readonly { readonly rule: RuleName; readonly claim: string }[];
  /** Damage that no rule can see. */
  readonly unseen: readonly string[];
}

/** Needs no database: the rules are the same for every job. */
export function explainRules(): RulesExplanation {
  return { rules: (Object.keys(claims) as RuleName[]).map((rule) => ({ rule, claim: claims[rule] })), unseen };
}

const unseen = [
  "a source row that was deleted before anything was planned of it, or together with its entry, its item and the row of its key, or a whole key that was deleted everywhere",
  "a change that is made to sources and entries alike, and rows of one pair that swap amounts and were seen by the same entries",
  "what decides nothing any more: the worker and the hour of an entry, the run of a zero entry, an id or a snapshot rewritten without a visible difference, attempts, imported files",
  "a run that was marked cancelled, unfinished, unplanned or of another kind; a plan's snapshot set back, which excuses a planted source row as unplanned",
  "a last entry's epoch or query version that was raised, before the next entry of its key; a token that was changed to that of another term",
  "an applied item in another partition (it stays where it was applied), items that lost their run and never belonged to this job, entries under a job id that no job has",
  "a function behind a trigger that was replaced by one that does nothing, triggers that a session switched off for itself, and the guards of tables of a job of your own",
];
