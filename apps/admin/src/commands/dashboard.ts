import type { CommandDefinition } from "../command.ts";
import { processCommand } from "./process-command.ts";

export const dashboard: CommandDefinition = processCommand({
  name: "dashboard",
  summary: "Bull Board over all queues, read-only, on loopback",
  description: `Serves Bull Board over all partition queues, read-only, on a loopback address. SIGTERM ends it.`,
});
