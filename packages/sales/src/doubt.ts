/** What would change a total in doubt is refused, and the refusal names the option that says: it is meant. */
import { ImportFault } from "./import-fault.ts";

/** What each option says, for `--help`. Its name is the option's, after two dashes. */
export const acceptances = {
  adopt: "sales recorded before their ids were given get them from this file's lines that match, whatever their share",
  "all-new": "no line of this file is a sale that was recorded without an id",
  "once-per-id": "lines with the same id repeat one amount, which counts once",
  "unseen-ok": "a value of --only or --except that was never seen is meant",
  "take-back": "take back what the filters leave out now, however many sales that are",
  older: "this file corrects sales though its newest sale is older than what they were last read from",
  "only-new": "of lines like sales that were recorded, record the surplus only",
  "allow-overlap": "record all lines though sales like them were recorded",
  grown: "this is the file that was imported under another name, grown",
  create: "restaurants that are not known are new ones",
  "before-opening": "sales of dates that an opening total has already are added on top of it",
} as const;

/** An option that says: it is meant. */
export type Acceptance = keyof typeof acceptances;

interface Doubt {
  /** What is in doubt, as `subject: fact`. */
  readonly text: string;
  /** Ways out besides the acceptances, in the imperative. */
  readonly instead?: readonly string[];
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Throws ImportFault `in_doubt`, whose message ends with the ways out, unless one of the acceptances was given. */
export function doubt(
  accepted: ReadonlySet<Acceptance>,
  ways: readonly Acceptance[],
  { text, instead = [], details = {} }: Doubt,
): void {
  if (ways.some((way) => accepted.has(way))) return;
  const options = ways.map((way) => `--${way} (${acceptances[way]})`);
  throw new ImportFault("in_doubt", `${text}; nothing was recorded. ${[...instead, ...options].join(", or ")}`, {
    details: { ...details, ways: ways.join(" ") },
  });
}
