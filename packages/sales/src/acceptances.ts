/**
 * What each option says by which somebody means what would be refused because it is in doubt. Its name is the option's, after two dashes.
 * Apart from everything else, since `--help` reads it.
 */
export const acceptances = {
  grown: "this is the file that was imported under another name, grown",
  "only-new": "of lines that look like recorded sales record the surplus only",
  "allow-overlap": "record all lines though they look like recorded sales",
  "once-per-id": "lines with the same id repeat one amount, which counts once",
  adopt: "sales recorded without an id get those of the lines that look like them, whatever their share",
  "all-new": "no line of this file is a sale that was recorded without an id, or with one of other columns",
  "whole-amounts": "amounts without decimals are whole, whatever the column after them says",
  "unseen-ok": "no line needs to have the values that --only and --except name",
  "take-back": "take sales back that were recorded and are left out now, however many they are",
  older: "correct sales though this export is older than the one that last said what they are",
  create: "record restaurants that are not known yet beside those that are",
  "similar-ok": "restaurants whose names are nearly the same are different ones",
  "same-sales": "another restaurant's sales are the same by accident",
  "sums-ok": "lines that are the sum of others are sales too",
  "future-ok": "all dates are in the future, and are right",
  "before-opening": "record sales from before a restaurant's opening total too, on top of it",
} as const;

/** An option that says: it is meant. */
export type Acceptance = keyof typeof acceptances;
