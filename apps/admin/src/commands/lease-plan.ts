import { parseRate, parseShare } from "../arguments/decimal.ts";
import { parseDuration } from "../arguments/duration.ts";
import { wholeNumber } from "../arguments/whole-number.ts";
import type { CommandDefinition } from "../command.ts";
import { group } from "./groups.ts";

export const leasePlan: CommandDefinition = {
  name: "plan",
  summary: "how many runs outlive a lease, how long a crash makes work wait, and which length is better",
  description: `Says what a lease of this length costs: runs that outlive it, the longest wait after a crash, grants that a failover
forgets; and recommends a length. With --runs, --slow-share or --p99 it calculates with these; without, it measures past
runs in DATABASE_URL, from batch to batch, as the ledger has them: it cannot see the first batch of each piece of work,
nor what was refused. Durations are written 400ms, 30s, 10m, 1h.`,
  group: group.nights,
  examples: [
    "lease plan --lease 30s --p99 20s --slow-share 1% --runs 1000 --grants-per-second 2 --replication-delay 400ms --compare-lease 10m",
    "lease plan --lease 20s --slow-share 1% --runs 5000 --compare-lease 15m",
    "lease plan",
  ],
  define(command, perform) {
    command
      .option("--lease <duration>", "its length (default: LEASE_MS, or 10s)", parseDuration)
      .option("--compare-lease <duration>", "a length that somebody thinks of instead (default: 10m)", parseDuration)
      .optionsGroup("The work, instead of what was measured:")
      .option("--runs <count>", "how often something is done under a lease (else: 1000)", wholeNumber(1, 999_999_999))
      .option("--slow-share <percent>", "the share of it that takes longer than the lease (else: 1%)", parseShare)
      .option("--p99 <duration>", "what 99 of 100 take at most; the recommendation comes from it", parseDuration)
      .optionsGroup("The store of the leases:")
      .option("--grants-per-second <rate>", "leases granted or renewed per second", parseRate, 0)
      .option("--replication-delay <duration>", "how far its replica is behind (default: it has none)", parseDuration)
      .optionsGroup("What is measured:")
      .option("--job <name>", "the job", "restaurant-totals")
      .option("--last <count>", "so many of its newest runs", wholeNumber(1, 10_000), 20)
      .action((options) =>
        perform(async (terminal) => (await import("../verbs/lease-plan.ts")).showLeasePlan(terminal, options)),
      );
  },
};
