/** Starts servers, says which, and then ends in the way it is told, without stopping them. */

import { startPostgres, startRedis } from "@nightwriter/services";

process.once("SIGUSR2", () => process.exit(0));
const [postgres, redis] = await Promise.all([startPostgres({ settings: { fsync: "off" } }), startRedis()]);
const pids = [postgres.pid, redis.pid];
console.log(JSON.stringify({ msg: "started", pids, folders: [postgres.dataDir, redis.dir] }));
