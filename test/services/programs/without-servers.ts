/** Asks for each server in an environment that has none, and says what it was told. */

import { ensureServer, startRedis } from "@nightwriter/services";

const say = (error: unknown): void => console.log(JSON.stringify({ msg: String(error) }));

await ensureServer("redis").catch(say);
await startRedis().catch(say);
