import { type HistoryEntry, type KeyHistory, keyHistory } from "@nightwriter/ledger";
import { type Answer, answer } from "../answer.ts";
import { openInstallation } from "../installation.ts";
import { formatCount, formatInstant, plural } from "../output/format.ts";
import { formatMoney } from "../output/money.ts";
import { printable, renderTable } from "../output/table.ts";
import { assertRestaurants, currenciesOf } from "../restaurants.ts";
import type { Terminal } from "../terminal.ts";

export interface TotalOptions {
  readonly restaurant: string;
  readonly job: string;
  readonly history: boolean;
  readonly limit: number;
}

/** Says what a restaurant's total is and, with `history`, what it was made of. */
export async function showTotal(
  terminal: Terminal,
  { restaurant, job: jobName, history, limit }: TotalOptions,
): Promise<Answer> {
  await using installation = await openInstallation(terminal, { verb: "total", jobName });
  const { database, job } = installation;
  await assertRestaurants(installation, [restaurant]);
  const currency = (await currenciesOf(database, [restaurant])).get(restaurant) ?? "";
  const found = (await keyHistory(database, job, restaurant)) ?? neverPlanned(restaurant);
  const newest = history ? found.entries.toReversed().slice(0, limit) : [];
  const { totalMinor, version, fencingToken, pausedAt } = found;
  const document = { restaurant, currency, totalMinor, version, fencingToken, pausedAt };
  return answer({
    inOrder: true,
    document: history ? { ...document, entries: newest } : document,
    text: [
      totalText(found, currency),
      ...(history ? ["", historyTable(newest, currency), moreText(found, newest)] : []),
    ]
      .join("\n")
      .trimEnd(),
  });
}

/** What a restaurant has before the first night that knew it. */
function neverPlanned(key: string): KeyHistory {
  return { key, totalMinor: 0n, version: 0n, fencingToken: 0n, pausedAt: undefined, entries: [] };
}

function totalText({ key, totalMinor, version, pausedAt, entries }: KeyHistory, currency: string): string {
  const last = entries.at(-1);
  const since = last === undefined ? "nothing applied yet" : `last one applied ${formatInstant(last.appliedAt)}`;
  const paused = pausedAt === undefined ? "" : `; paused since ${formatInstant(pausedAt)}`;
  return `${printable(key)}: ${formatMoney(totalMinor, currency)} (${plural(version, "entry", "entries")}, ${since}${paused})`;
}

function historyTable(entries: readonly HistoryEntry[], currency: string): string {
  return renderTable(
    [
      { title: "version", align: "right" },
      { title: "date" },
      { title: "added", align: "right" },
      { title: "total", align: "right" },
      { title: "sales", align: "right" },
      { title: "run", align: "right" },
      { title: "token", align: "right" },
      { title: "worker" },
      { title: "applied" },
    ],
    entries.map((entry) => [
      entry.version.toString(),
      entry.businessDate.toString(),
      formatMoney(entry.deltaMinor, currency),
      formatMoney(entry.totalAfter, currency),
      formatCount(entry.sourceCount),
      entry.runId.toString(),
      entry.fencingToken.toString(),
      entry.worker,
      formatInstant(entry.appliedAt),
    ]),
  );
}

function moreText({ entries }: KeyHistory, shown: readonly HistoryEntry[]): string {
  const more = entries.length - shown.length;
  return more === 0 ? "" : `and ${plural(more, "older entry", "older entries")}; --limit shows more`;
}
