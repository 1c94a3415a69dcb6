/** A verification for people: what was proved, what is wrong, what is still to come. */
import type { Acknowledged, Outstanding, RuleReport, VerifyReport, Violation } from "@nightwriter/ledger";
import { formatCount, formatDuration, formatInstant, plural } from "../output/format.ts";
import { formatMoney } from "../output/money.ts";
import { renderTable } from "../output/table.ts";

/** Currencies by key, as far as they are known. */
export type Currencies = ReadonlyMap<string, string>;

/** Pairs that a person is shown; a document has up to a hundred of each reason. */
const OUTSTANDING_SHOWN = 20;

/** The whole report. */
export function reportText(report: VerifyReport, currencies: Currencies): string {
  const parts = [
    rulesTable(report.rules),
    ...report.rules.flatMap((rule) => violationsText(rule, currencies)),
    outstandingText(report, currencies),
    earlierQueryText(report),
    earlierTermText(report),
    epochsText(report),
    verdict(report),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

const marks = {
  holds: "ok",
  violated: "VIOLATED",
  acknowledged: "acknowledged",
  "not applicable": "n/a",
  "not proved": "NOT PROVED",
} as const;

function rulesTable(rules: readonly RuleReport[]): string {
  return renderTable(
    [{ title: "" }, { title: "rule" }, { title: "what it says" }],
    rules.map(({ status, rule, claim }) => [marks[status], rule, claim]),
  );
}

function violationsText(rule: RuleReport, currencies: Currencies): string[] {
  const { violationCount, violations, acknowledgedCount, acknowledged } = rule;
  const open = tableOf(violations, currencies);
  const given = tableOf(acknowledged, currencies, acknowledged);
  return [
    ...counted(`${rule.rule}: ${plural(violationCount, "violation")}`, violationCount - violations.length, open),
    ...counted(
      `${rule.rule}: ${formatCount(acknowledgedCount)} acknowledged, no violation as it stands`,
      acknowledgedCount - acknowledged.length,
      given,
    ),
  ];
}

function counted(heading: string, more: number, table: string | undefined): string[] {
  if (table === undefined) return [];
  return [more === 0 ? `${heading}\n${table}` : `${heading}\n${table}\nand ${formatCount(more)} more`];
}

/** Undefined: there is none. With what was said of each, where somebody said something. */
function tableOf(
  found: readonly Violation[],
  currencies: Currencies,
  said: readonly Acknowledged[] = [],
): string | undefined {
  if (found.length === 0) return undefined;
  return renderTable(
    [
      { title: "finding" },
      { title: "key" },
      { title: "date" },
      { title: "run", align: "right" },
      { title: "version", align: "right" },
      { title: "what" },
      { title: "is", align: "right" },
      { title: "should be", align: "right" },
      ...(said.length === 0 ? [] : [{ title: "by" }, { title: "reason" }]),
    ],
    found.map((violation, place) => [
      violation.finding,
      violation.key ?? "",
      violation.businessDate?.toString() ?? "",
      violation.runId?.toString() ?? "",
      violation.version?.toString() ?? "",
      violation.measure,
      measured(violation, violation.actual, currencies),
      measured(violation, violation.expected, currencies),
      ...said.slice(place, place + 1).flatMap(({ actor, reason }) => [actor, reason]),
    ]),
  );
}

/** Amounts as money, everything else as it is. */
function measured({ key, measure }: Violation, value: bigint | undefined, currencies: Currencies): string {
  if (value === undefined) return "none";
  const isAmount = measure.endsWith("_minor") || measure === "total_after";
  return isAmount ? formatMoney(value, currencies.get(key ?? "") ?? "") : value.toString();
}

function outstandingText({ outstanding, outstandingSums }: VerifyReport, currencies: Currencies): string {
  if (outstandingSums.length === 0) return "";
  const shown = outstanding.slice(0, OUTSTANDING_SHOWN);
  const counts = outstandingSums.map(({ reason, pairCount }) => `${formatCount(pairCount)} ${reason}`).join(", ");
  const table = renderTable(
    [
      { title: "reason" },
      { title: "key" },
      { title: "date" },
      { title: "run", align: "right" },
      { title: "still to be added", align: "right" },
      { title: "age", align: "right" },
    ],
    shown.map((pair) => outstandingRow(pair, currencies)),
  );
  const more = outstandingSums.reduce((sum, { pairCount }) => sum + pairCount, 0) - shown.length;
  const text = `outstanding, which is no violation: ${counts}\n${table}`;
  return more > 0 ? `${text}\nand ${formatCount(more)} more` : text;
}

function outstandingRow(
  { reason, key, businessDate, runId, amountMinor, age }: Outstanding,
  currencies: Currencies,
): string[] {
  return [
    reason,
    key,
    businessDate.toString(),
    runId?.toString() ?? "",
    formatMoney(amountMinor, currencies.get(key) ?? ""),
    age === undefined ? "" : formatDuration(age.total("milliseconds")),
  ];
}

/** Said only when there was a change: ids of different clusters cannot be compared, and somebody restored a dump. */
function epochsText({ epochs }: VerifyReport): string {
  if (epochs.length < 2) return "";
  const [first, ...later] = epochs;
  const changes = later.map(({ epoch, startedAt }) => `epoch ${epoch} since ${formatInstant(startedAt)}`);
  const since = first === undefined ? "" : `epoch ${first.epoch} since ${formatInstant(first.startedAt)}, `;
  return `the data was moved to another cluster: ${since}${changes.join(", ")}`;
}

/** Said only after the source query was changed: what it summed before can be added up, but not computed again. */
function earlierQueryText({ earlierQueryCount: count }: VerifyReport): string {
  if (count === 0) return "";
  return `${plural(count, "entry was", "entries were")} summed by an earlier source query: delta-from-snapshot cannot compute these again`;
}

/** Said only of a ledger from before ended terms were kept. */
function earlierTermText({ earlierTermCount: count }: VerifyReport): string {
  if (count === 0) return "";
  return `${plural(count, "entry was", "entries were")} written under terms that had ended before ended terms were kept: within-term cannot judge these`;
}

function verdict({ clean, unproved, entryCount, keyCount, rules, durationMs, ...report }: VerifyReport): string {
  const broken = rules.filter(({ status }) => status === "violated").length;
  const held = unproved.length === 0 ? "every rule holds" : "every rule that asks no source holds";
  const acknowledged =
    report.acknowledgedCount === 0 ? "" : `, but for ${formatCount(report.acknowledgedCount)} acknowledged`;
  const found = `${clean ? held : `${plural(broken, "rule is", "rules are")} violated`}${acknowledged}`;
  const left = `not proved, since another source query is in force: ${unproved.join(", ")}`;
  const result = unproved.length === 0 ? found : `${found}; ${left}`;
  return `${plural(entryCount, "entry", "entries")} of ${plural(keyCount, "key")} verified in ${formatDuration(durationMs)}: ${result}`;
}
