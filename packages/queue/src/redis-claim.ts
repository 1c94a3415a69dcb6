/** The claim of an installation in a Redis that keeps queues: one string key that never expires. */
import type { ClaimSlot } from "@nightwriter/installation";
import type { Redis } from "ioredis";

/** KEYS: the claim. ARGV: whether something must stand there, what, and what is to stand there. What stands there afterwards. */
const REPLACE = `
local found = redis.call('get', KEYS[1])
if (ARGV[1] == '0' and not found) or (ARGV[1] == '1' and found == ARGV[2]) then
  redis.call('set', KEYS[1], ARGV[3])
  return ARGV[3]
end
return found
`;

/** `ask` runs a question within the patience of the store, and sorts what goes wrong. */
export type AskRedis = <Answer>(question: (client: Redis) => Promise<Answer>) => Promise<Answer>;

export interface RedisClaimOptions {
  readonly prefix: string;
  readonly label: string;
  readonly ask: AskRedis;
  /** Throws where the server would not do what a night needs of it. */
  readonly probe: () => Promise<void>;
}

/** Leases of the same prefix have their claim under the same key, wherever they are. */
export function redisClaim({ prefix, label, ask, probe }: RedisClaimOptions): ClaimSlot {
  const key = `${prefix}:claim`;
  return {
    label,
    read: async () => {
      await probe();
      return (await ask((client) => client.get(key))) ?? undefined;
    },
    replace: async (before, text) => {
      const values = before === undefined ? ["0", ""] : ["1", before];
      return textOf(await ask((client) => client.eval(REPLACE, 1, key, ...values, text)));
    },
  };
}

function textOf(answer: unknown): string | undefined {
  return typeof answer === "string" ? answer : undefined;
}
