/**
 * Dates and times as a file writes them, in Unicode (UTS 35) tokens, read by date-fns.
 *
 * date-fns takes microseconds for each text, so nothing is parsed twice: a format is cut into its date and its time
 * where that is safe, and each part is remembered. A year of days and a day of minutes are 1,800 texts, not 500,000.
 *
 * Everything is read in UTC, so that the zone of the machine cannot swallow an hour: what comes out is the wall time as
 * if the wall stood in Greenwich, in milliseconds.
 */
import { createRequire } from "node:module";
import type * as dateFnsUtc from "@date-fns/utc";
import type * as dateFns from "date-fns";
import { ImportFault } from "../import-fault.ts";
import { remember } from "./remember.ts";

// As CommonJS: as ES modules, each of date-fns' hundreds of files has Node read its package.json of 200 kB, which takes every
// process that can reach this file seconds of its start.
const require = createRequire(import.meta.url);
const { utc } = require("@date-fns/utc/utc") as Pick<typeof dateFnsUtc, "utc">;
const { format: formatDate } = require("date-fns/format") as Pick<typeof dateFns, "format">;
const { parse } = require("date-fns/parse") as Pick<typeof dateFns, "parse">;

export interface DateFormat {
  readonly text: string;
  /** Without a time of day the text is a business date itself, and no cutoff applies to it. */
  readonly hasTime: boolean;
  /** With an offset the text names an instant, to be seen on a wall clock of the restaurant's zone. */
  readonly isInstant: boolean;
  /** Milliseconds since 1970-01-01T00:00 on that wall (or in UTC, for an instant). Undefined: no such date, or a year outside 1900 to 2199. */
  read(text: string): number | undefined;
}

/** Two-digit years are 1969 to 2068, as in POSIX. */
const reference = Date.UTC(2019, 0, 1);
const earliest = Date.UTC(1900, 0, 1);
const end = Date.UTC(2200, 0, 1);
/** Milliseconds that name an earlier instant are seconds, of a sale that was made later. */
const epochStart = Date.UTC(1973, 2, 3);
const maxLength = 64;

const token = /''|'(?:''|[^'])+'|([A-Za-z])\1*o?|[^A-Za-z']+/gu;
const dateLetters = "GyYRuQqMLwIdDEeciP";
const timeLetters = "abBhHkKmsSp";
const instantLetters = "XxtT";

/** Compiles a format such as `dd/MM/yyyy HH:mm`. Throws ImportFault `date_format_invalid` when it leaves the day open. */
export function compileDateFormat(text: string): DateFormat {
  const tokens = [...text.matchAll(token)].map(([part, letter]): Token => ({ part, kind: kindOf(letter) }));
  assertReadable(text, tokens);
  const has = (kind: Token["kind"]): boolean => tokens.some((each) => each.kind === kind);
  assertDecisive(text, tokens);
  const shape = shapeOf(tokens);
  const whole = remember((value) => (shape?.test(value) === false ? Number.NaN : readWith(value, text, reference)));
  const cut = has("instant") || shape !== undefined ? undefined : cutBetween(tokens);
  const first = tokens.some(({ part }) => /^T+$/u.test(part)) ? epochStart : earliest;
  const readPlain = cut === undefined ? whole : readInParts(cut);
  return {
    text,
    hasTime: has("time") || has("instant"),
    isInstant: has("instant"),
    read(value) {
      const trimmed = value.trim();
      if (trimmed === "" || trimmed.length > maxLength) return undefined;
      const ms = readPlain(trimmed);
      return ms >= first && ms < end ? ms : undefined;
    },
  };
}

type Token = { readonly part: string; readonly kind: "date" | "time" | "instant" | "literal" };

function kindOf(letter: string | undefined): Token["kind"] {
  if (letter === undefined) return "literal";
  if (dateLetters.includes(letter)) return "date";
  if (timeLetters.includes(letter)) return "time";
  return instantLetters.includes(letter) ? "instant" : "literal";
}

/** date-fns warns on the console of each use of Y and D, or throws; which of them are refused is said here, in {@link assertDecisive}. */
const unwarned = { in: utc, useAdditionalWeekYearTokens: true, useAdditionalDayOfYearTokens: true };

/** NaN: not a date. */
function readWith(text: string, format: string, referenceMs: number): number {
  return parse(text, format, utc(referenceMs), unwarned).getTime();
}

/** Months, quarters and days of the week have names from three letters on. */
const numeric = /^(?:[yuRdDHhKmsSwI]+|[MLQqeic]{1,2})$/u;
/** What ends by saying Greenwich, or how far from it. */
const greenwich = /(?:^|[^A-Za-z])(?:Z|Zulu|UTC|UCT|GMT|[+-]\d\d(?::?\d\d)?)\W*$/iu;

/** Adjoining numbers are told apart by their widths alone: a lost zero at the front must not move them. Undefined: there are none such. */
function shapeOf(tokens: readonly Token[]): RegExp | undefined {
  const isNumber = (at: number): boolean => numeric.test(tokens[at]?.part ?? "");
  const adjoins = (at: number): boolean => isNumber(at) && (isNumber(at - 1) || isNumber(at + 1));
  if (!tokens.some((_, at) => adjoins(at))) return undefined;
  const parts = tokens.map(({ part }, at) => {
    if (adjoins(at)) return String.raw`\d{${part.length}}`;
    return isNumber(at) ? String.raw`\d+` : ".+?";
  });
  return new RegExp(`^${parts.join("")}$`, "u");
}

/** Refuses what would be read without an error, and wrongly. */
function assertReadable(format: string, tokens: readonly Token[]): void {
  const fault = (fact: string): ImportFault =>
    new ImportFault("date_format_invalid", `date format ${JSON.stringify(format)}: ${fact}`, { details: { format } });
  const hasTime = tokens.some(({ kind }) => kind === "time");
  // Where an offset is read, GMT beside it says nothing else.
  const isInstant = tokens.some(({ kind }) => kind === "instant");
  const zone = tokens.find(({ part, kind }) => kind === "literal" && greenwich.test(part));
  if (hasTime && !isInstant && zone !== undefined) {
    throw fault(
      `${zone.part} says that times are not the restaurant's own, and would be passed over; write X for an offset or a Z`,
    );
  }
  if (tokens.some(({ part }) => /^k+$/u.test(part))) {
    throw fault(
      "k counts hours from 1 to 24, and 24:15 is of the day before or of the day after; hours from 00 to 23 are HH",
    );
  }
  const single = tokens.find(({ part }, at) => {
    const neighbours = [tokens[at - 1]?.part ?? "", tokens[at + 1]?.part ?? ""];
    return /^[yuRMLQqdDHhKmswI]$/u.test(part) && neighbours.some((each) => numeric.test(each));
  });
  if (single !== undefined) {
    throw fault(
      `${single.part} adjoins another number, so that nobody knows where it ends; write it twice, and the file must too`,
    );
  }
}

/** Writes an afternoon in the format and reads it back: `mm` for the month, or `hh` without AM or PM, shows here. */
function assertDecisive(format: string, tokens: readonly Token[]): void {
  const sample = Date.UTC(2021, 7, 23, 17, 45, 0);
  const fault = (fact: string, cause?: unknown): ImportFault =>
    new ImportFault("date_format_invalid", `date format ${JSON.stringify(format)}: ${fact}`, {
      details: { format },
      cause,
    });
  if (tokens.some(({ part }) => /^(?:D|(?:DD|YY|YYYY)o?)$/u.test(part))) {
    throw fault("the tokens are yyyy and dd (Y is the year that a week belongs to, D the day of the year)");
  }
  let back: Date;
  try {
    back = new Date(readWith(formatDate(utc(sample), format, unwarned), format, reference));
  } catch (error) {
    throw fault(`is no Unicode date format; write it like dd/MM/yyyy HH:mm`, error);
  }
  if (Number.isNaN(back.getTime()) || back.toISOString().slice(0, 10) !== "2021-08-23") {
    throw fault("does not say year, month and day; the tokens are yyyy or yy, MM and dd (mm are minutes)");
  }
  if (tokens.some(({ kind }) => kind === "time") && back.getUTCHours() !== 17) {
    throw fault("does not say the hour; it is HH, or hh together with a (AM or PM)");
  }
}

type Cut = {
  readonly first: string;
  readonly second: string;
  readonly dateFirst: boolean;
  readonly separator: string;
  /** Whether the separator is the last of its kind in a text; otherwise it is the first. */
  readonly last: boolean;
};

/** Where the format can be cut between date and time, so that any text in it can be cut as well; undefined: nowhere. */
function cutBetween(tokens: readonly Token[]): Cut | undefined {
  const kinds = tokens.map((each) => each.kind).filter((kind) => kind !== "literal");
  const changes = kinds.filter((kind, index) => index > 0 && kind !== kinds[index - 1]).length;
  if (changes !== 1) return undefined;
  const before = tokens.findIndex((each) => each.kind === kinds.at(-1));
  const middle = tokens[before - 1];
  if (middle === undefined || middle.kind !== "literal") return undefined;
  const separator = middle.part.startsWith("'") ? middle.part.slice(1, -1).replaceAll("''", "'") : middle.part;
  const parts = [tokens.slice(0, before - 1), tokens.slice(before)] as const;
  const [first, second] = [join(parts[0]), join(parts[1])];
  const dateFirst = kinds[0] === "date";
  if (isFreeOf(separator, parts[1])) return { first, second, dateFirst, separator, last: true };
  if (isFreeOf(separator, parts[0])) return { first, second, dateFirst, separator, last: false };
  return undefined;
}

function join(tokens: readonly Token[]): string {
  return tokens.map((each) => each.part).join("");
}

/** Whether no text of this part can hold the separator: its tokens are digits (or AM and PM), its literals are other ones. */
function isFreeOf(separator: string, tokens: readonly Token[]): boolean {
  if (/[\dAPM]/iu.test(separator) || separator === "") return false;
  return tokens.every(({ part, kind }) =>
    kind === "literal" ? !part.includes(separator) : /^(?:[yuHhKkmsS]+|d{1,2}|[ML]{1,2}|a{1,3})$/u.test(part),
  );
}

function readInParts({ first, second, dateFirst, separator, last }: Cut): (text: string) => number {
  const readFirst = remember((text) => readWith(text, first, dateFirst ? reference : 0));
  const readSecond = remember((text) => readWith(text, second, dateFirst ? 0 : reference));
  return (text) => {
    const at = last ? text.lastIndexOf(separator) : text.indexOf(separator);
    if (at < 0) return Number.NaN;
    return readFirst(text.slice(0, at)) + readSecond(text.slice(at + separator.length));
  };
}
