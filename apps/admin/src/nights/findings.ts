/** What is not as it should be with the nights, of whatever age: a line for each kind, with the command that mends it. */
import { leadershipOf, type NightsLook } from "@nightwriter/nights";
import { formatInstant, plural } from "../output/format.ts";
import { errorText } from "../withdrawn/error-text.ts";
import { type DateSpan, spansOf } from "./date-spans.ts";

export interface Finding {
  readonly kind:
    | "missing"
    | "early"
    | "overdue"
    | "parked"
    | "queue paused"
    | "queue unknown"
    | "no scheduler"
    | "no leader"
    | "clock"
    | "no worker";
  /** Whether the exit code says so. What is no trouble yet is only told. */
  readonly trouble: boolean;
  readonly fact: string;
  /** What mends it: a command, or what a person is to do. */
  readonly remedy: string;
}

/** Most urgent first: who should do the work, then what was not done. */
export function findingsOf(look: NightsLook): Finding[] {
  return [
    ...schedulerFindings(look),
    ...clockFindings(look),
    ...workerFindings(look),
    ...spansOf(look.missing).map(missingFinding),
    ...look.early.map((night) => earlyFinding(night, look.now)),
    ...look.overdue.map(overdueFinding),
    ...parkedFindings(look),
  ];
}

function schedulerFindings({ schedulers, now }: NightsLook): Finding[] {
  const start = "nightwriter scheduler";
  const last = schedulers.toSorted((one, other) => Temporal.Instant.compare(other.seenAt, one.seenAt))[0];
  switch (leadershipOf(schedulers, now)) {
    case "led":
      return [];
    case "unknown":
      return [
        { kind: "no scheduler", trouble: false, fact: "no scheduler was heard of in the last week", remedy: start },
      ];
    case "gone": {
      const seen = last === undefined ? "" : `; ${last.name} was, until ${formatInstant(last.seenAt)}`;
      return [{ kind: "no scheduler", trouble: true, fact: `no scheduler is alive${seen}`, remedy: start }];
    }
    case "leaderless": {
      const alive = plural(schedulers.filter((each) => each.alive).length, "scheduler is", "schedulers are");
      const remedy = "look at their log for lines on the lease store and the clock";
      return [{ kind: "no leader", trouble: true, fact: `${alive} alive, and none leads`, remedy }];
    }
  }
}

function clockFindings({ schedulers }: NightsLook): Finding[] {
  return schedulers.flatMap(({ alive, name, host, hindrance }): Finding[] => {
    if (!alive || hindrance === undefined) return [];
    const remedy = `timedatectl set-ntp true, on host ${host}`;
    return [{ kind: "clock", trouble: true, fact: `scheduler ${name} does not lead: ${hindrance}`, remedy }];
  });
}

function workerFindings({ workers, hadWorkers, due }: NightsLook): Finding[] {
  if (workers.length > 0) return [];
  const fact =
    due === 0
      ? "no worker is alive, and nothing is due"
      : `no worker is alive, and ${plural(due, "item is", "items are")} due`;
  return [{ kind: "no worker", trouble: hadWorkers && due > 0, fact, remedy: "nightwriter worker" }];
}

function missingFinding({ first, last, count }: DateSpan): Finding {
  const [from, to] = [first.toString(), last.toString()];
  return {
    kind: "missing",
    trouble: true,
    fact:
      count === 1 ? `the night of ${from} was never planned` : `${count} nights were never planned, ${from} to ${to}`,
    remedy: count === 1 ? `nightwriter run --date ${from} --wait` : `nightwriter run --from ${from} --to ${to} --wait`,
  };
}

function earlyFinding(
  { businessDate, plannedAt, endsAt }: NightsLook["early"][number],
  now: Temporal.Instant,
): Finding {
  const date = businessDate.toString();
  const wait = Temporal.Instant.compare(endsAt, now) > 0 ? `, once it is ${formatInstant(endsAt)}` : "";
  return {
    kind: "early",
    trouble: true,
    fact: `the night of ${date} was planned at ${formatInstant(plannedAt)}, before that date was over: what was sold after that is not added`,
    remedy: `nightwriter rerun --date ${date} --wait${wait}`,
  };
}

function overdueFinding({ status, reason }: NightsLook["overdue"][number]): Finding {
  const { run, due, paused } = status;
  const date = run.businessDate.toString();
  const open = [due > 0 ? `${due} due` : "", paused > 0 ? `${paused} paused` : ""]
    .filter((text) => text !== "")
    .join(", ");
  const why = reason === "stalled" ? "none was applied for 15 minutes" : "a night has fallen due since it was planned";
  return {
    kind: "overdue",
    trouble: true,
    fact: `run ${run.id} (${run.kind}, ${date}) is not finished: ${open}, and ${why}`,
    remedy: run.kind === "nightly" ? `nightwriter run --date ${date} --wait` : "nightwriter partitions",
  };
}

function parkedFindings({ parked }: NightsLook): Finding[] {
  const [oldest] = parked.oldest;
  if (oldest === undefined) return [];
  const error = errorText(oldest) || "no reason was recorded";
  return [
    {
      kind: "parked",
      trouble: true,
      fact: `${plural(parked.count, "item is", "items are")} parked, the oldest ${oldest.key} of ${oldest.businessDate}: ${error}`,
      remedy: "nightwriter items list, and when its cause is mended: nightwriter items retry --all --reason TEXT",
    },
  ];
}
