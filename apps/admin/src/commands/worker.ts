import type { CommandDefinition } from "../command.ts";
import { processCommand } from "./process-command.ts";

export const worker: CommandDefinition = processCommand({
  name: "worker",
  summary: "applies what is enqueued",
  description: `Takes run items from the queue and adds them to the totals, in batches. Any number may run, and each may be killed:
what it had in flight is delivered again. SIGTERM lets it finish what is in flight; a second one ends it at once.`,
});
