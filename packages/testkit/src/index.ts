export { type Barrier, barrier, type NamedPoints, namedPoints } from "./barrier.ts";
export { advisoryWaiter, type HeldBack, heldBack } from "./held-back.ts";
export { type MutatedBuild, type Mutation, mutatedBuild } from "./mutated-build.ts";
export { makeRestaurants, recordSales, type SaleRow } from "./restaurants.ts";
export { type Randomness, seededRandom } from "./seed.ts";
export type { PostgresVersion } from "./servers.ts";
export { type App, type LogLine, type SpawnAppOptions, spawnApp } from "./spawn-app.ts";
export { type TestDatabase, type TestDatabaseOptions, testDatabase } from "./test-database.ts";
export { bothPostgres, bothQueues, type QueueStore, type TestQueue, testQueue, testRedis } from "./test-queue.ts";
