/** Asks for each server in an environment that has none, and says what it was told. */

import { ensureServer, ServicesFault, startEtcd, startZookeeper } from "@nightwriter/services";

const say = (error: unknown): void => {
  const { code, message } = error instanceof ServicesFault ? error : { code: "other", message: String(error) };
  console.log(JSON.stringify({ code, message }));
};

await ensureServer("etcd").catch(say);
await startEtcd().catch(say);
await ensureServer("zookeeper").catch(say);
await startZookeeper().catch(say);
