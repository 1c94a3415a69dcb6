/** What one environment variable is: how it is read, and what a person is told about it. */
import { z } from "zod";

export interface Setting<Value> {
  readonly variable: string;
  /** What the variable is for, for the README's table and for --help. */
  readonly description: string;
  /** What is accepted, in words: the remedy of every fault. */
  readonly accepts: string;
  /** Parses the text of the variable, which is never empty. */
  readonly schema: z.ZodType<Value, string>;
  /** The text that stands for an absent variable; undefined: it must be set, or `defaultNote` says where it comes from. */
  readonly defaultText?: string;
  /** What the default is, where it is no fixed text. */
  readonly defaultNote?: string;
  /** Whether the value can hold a password and is never shown whole. */
  readonly secret?: boolean;
}

type Words = Pick<Setting<unknown>, "variable" | "description"> & Partial<Setting<unknown>>;
type Range = { readonly min: number; readonly max: number };

/** A whole number in decimal digits; `1e3`, `0x10` and ` 5` are no such thing. */
export function integer({ min, max, ...words }: Words & Range): Setting<number> {
  const schema = z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max));
  return { ...words, schema, accepts: `a whole number from ${min} to ${max}` };
}

/** Milliseconds, from 1 up to a day unless `max` says otherwise. */
export function milliseconds({ min = 1, max = 86_400_000, ...words }: Words & Partial<Range>): Setting<number> {
  const setting = integer({ min, max, ...words });
  return { ...setting, accepts: `milliseconds, ${setting.accepts}` };
}

/** One of a few words. */
export function oneOf<const Word extends string>(choices: readonly Word[], words: Words): Setting<Word> {
  return { ...words, schema: z.enum(choices), accepts: choices.join(", ") };
}

/** A URL of one of the schemes, with a host (or, for Postgres, a socket folder in `?host=`). */
export function url(schemes: readonly string[], words: Words & { readonly example: string }): Setting<string> {
  const { example, ...rest } = words;
  const schema = z.string().refine((text) => schemes.includes(URL.parse(text)?.protocol ?? ""));
  return { ...rest, schema, secret: true, accepts: `a URL like ${example} (${schemes.join(", ")})` };
}

/** A text that matches a pattern. */
export function text(pattern: RegExp, words: Words & { readonly accepts: string }): Setting<string> {
  return { ...words, schema: z.string().regex(pattern) };
}
