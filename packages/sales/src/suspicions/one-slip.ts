/**
 * Whether two names are the same but for case, white space or one slip of the fingers: a letter that is another one, missing, too many, or
 * exchanged with the next. Numbers are no slips (Store 1, Store 2), nor are the letters of short names.
 */
export function isOneSlip(one: string, other: string): boolean {
  const [left, right] = [plainName(one), plainName(other)];
  if (left === right) return true;
  if (Math.min(left.length, right.length) < shortest) return false;
  let start = 0;
  while (start < left.length && left[start] === right[start]) start += 1;
  let end = 0;
  const rest = Math.min(left.length, right.length) - start;
  while (end < rest && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  const [was, is] = [left.slice(start, left.length - end), right.slice(start, right.length - end)];
  if (/[\p{N}]/u.test(was + is)) return false;
  if (was.length <= 1 && is.length <= 1) return true;
  return was.length === 2 && is.length === 2 && was[0] === is[1] && was[1] === is[0];
}

const shortest = 4;

/** Without white space, whatever its case. */
export function plainName(name: string): string {
  return name.normalize("NFKC").replaceAll(/\s/gu, "").toLowerCase();
}
