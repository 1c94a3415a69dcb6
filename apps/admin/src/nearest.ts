import { closestMatch } from "leven";

/** ` (did you mean X?)`, or nothing when no candidate is near: at most a third of the letters differ. Case does not count. */
export function didYouMean(wrong: string, candidates: readonly string[]): string {
  const byLowerCase = new Map(candidates.map((candidate) => [candidate.toLowerCase(), candidate]));
  const maxDistance = Math.max(1, Math.floor(wrong.length / 3));
  const found = byLowerCase.get(closestMatch(wrong.toLowerCase(), [...byLowerCase.keys()], { maxDistance }) ?? "");
  return found === undefined ? "" : ` (did you mean ${found}?)`;
}
