import type { CommandGroup } from "../command.ts";
import { group } from "./groups.ts";
import { leasePlan } from "./lease-plan.ts";

export const lease: CommandGroup = {
  name: "lease",
  summary: "lease plan: how long a lease should be, and what each length costs",
  description: "What concerns leases: each of the verbs below has its own help.",
  group: group.nights,
  examples: ["lease plan --lease 30s --runs 1000 --slow-share 1%", "lease plan --json", "lease plan --help"],
  subverbs: [leasePlan],
};
