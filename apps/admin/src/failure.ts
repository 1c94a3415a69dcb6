/** What went wrong, in the words of the command line: one line for people, one document for machines, an exit code. */
import { CommanderError } from "@commander-js/extra-typings";
import { Fault } from "@nightwriter/core";
import type { RunFaultCode } from "@nightwriter/run";
import type { BadLine, ImportFault, ImportFaultCode } from "@nightwriter/sales";
import type { RestaurantFaultCode } from "@nightwriter/sales/restaurants";
import { type ExitCode, exitCode } from "./exit-code.ts";
import { Interrupted } from "./interrupt.ts";
import { UsageFault } from "./usage-fault.ts";

/** Faults of the rooms below by which they say that what they were asked for cannot be: the words were wrong, not the world. */
const usageCodes: ReadonlySet<string> = new Set<RunFaultCode | ImportFaultCode | RestaurantFaultCode>([
  "business_date_closed",
  "business_date_not_over",
  "key_unknown",
  "night_missing",
  "request_differs",
  "date_format_invalid",
  "zone_unknown",
  "cutoff_invalid",
  "currency_unknown",
  "delimiter_invalid",
  "settings_missing",
  "column_missing",
  "column_ambiguous",
  "restaurant_unknown",
  "restaurant_differs",
  "restaurant_fixed",
  "skip_file_exists",
  "import_unknown",
]);

interface ErrorDocument {
  readonly code: string;
  readonly message: string;
  readonly details: object;
  /** The first lines of a file that cannot be recorded. */
  readonly badLines?: readonly BadLine[];
}

export interface Failure {
  readonly exitCode: ExitCode;
  /** Says what is wrong and what mends it; without the program's name. A wrong configuration has a line per variable. */
  readonly line: string;
  readonly document: { readonly error: ErrorDocument };
  /** For `--verbose`: where it happened, and what caused it. */
  readonly stack: string | undefined;
}

/**
 * Sorts whatever was thrown; `verb` is the one that was asked for, if it is one. Passwords in URLs are masked: drivers put
 * connection strings into their messages.
 */
export async function describeFailure(thrown: unknown, verb: string | undefined): Promise<Failure> {
  const error = firstOf(thrown);
  if (error instanceof CommanderError) return usageFailure(error, verb);
  const { redactUrl } = await import("@nightwriter/observability");
  const code = error instanceof Fault ? error.code : error instanceof Interrupted ? "interrupted" : "unexpected";
  const line = redactUrl(lineOf(error));
  const details = error instanceof Fault ? error.details : {};
  return {
    exitCode: exitCodeOf(error),
    line,
    document: { error: { code, message: line, details, ...badLinesOf(error) } },
    stack: redactUrl(stackOf(thrown)),
  };
}

/** Commander's own findings: `error: unknown option '--dat'` and, on a line of its own, `(Did you mean --date?)`. */
function usageFailure({ message, code }: CommanderError, verb: string | undefined): Failure {
  const finding = message.replace(/^error: /, "").replaceAll(/\s*\n\s*/g, " ");
  const help = ["nightwriter", ...(verb === undefined ? [] : [verb]), "--help"].join(" ");
  const line = finding.includes("(Did you mean ") ? finding : `${finding.replace(/\.$/, "")}; see ${help}`;
  return {
    exitCode: exitCode.usage,
    line,
    document: { error: { code: "usage", message: line, details: { kind: code } } },
    stack: undefined,
  };
}

function badLinesOf(error: unknown): { badLines?: readonly BadLine[] } {
  const { badLines = [] } = (error ?? {}) as Partial<ImportFault>;
  return error instanceof Fault && badLines.length > 0 ? { badLines } : {};
}

function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof Interrupted) return error.exitCode;
  const isUsage = error instanceof UsageFault || (error instanceof Fault && usageCodes.has(error.code));
  return isUsage ? exitCode.usage : exitCode.fault;
}

/** What went wrong first: what cannot be closed any more because of it is no news. */
function firstOf(thrown: unknown): unknown {
  return thrown instanceof SuppressedError ? firstOf(thrown.suppressed) : thrown;
}

function lineOf(error: unknown): string {
  if (error instanceof Fault || error instanceof Interrupted) return error.message;
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return `unexpected ${message}; this is a bug, --verbose shows where`;
}

function stackOf(error: unknown): string {
  const stacks: string[] = [];
  for (let each = error; each instanceof Error; each = each.cause) {
    stacks.push(each.stack ?? String(each));
    if (each instanceof SuppressedError) return `${stackOf(each.suppressed)}\nand then ${stackOf(each.error)}`;
  }
  return stacks.join("\ncaused by ");
}
