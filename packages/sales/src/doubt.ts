/** What would change a total in doubt is refused, and the refusal names the option that says: it is meant. */
import { type Acceptance, acceptances } from "./acceptances.ts";
import { ImportFault } from "./import-fault.ts";

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
