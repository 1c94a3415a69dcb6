import type { CommandDefinition } from "../command.ts";
import { processCommand } from "./process-command.ts";

export const scheduler: CommandDefinition = processCommand({
  name: "scheduler",
  summary: "plans nights, catches up on missed ones, mends the queue",
  description: `Plans each night when its hour has come, catches up on nights that were missed, and enqueues again what is due but not
in the queue. Any number may run: each duty is idempotent. SIGTERM ends it in order.`,
});
