/** What the verbs on claims work on: the database, and the stores that it shares a prefix of with nobody. */
import { type Config, loadConfig } from "@nightwriter/config";
import { assertSchemaCompatible, type Database, startLockWatch } from "@nightwriter/database";
import { type ClaimSlot, currentInstallation, type Installation } from "@nightwriter/installation";
import { connectDatabase } from "../connect-database.ts";
import { openLogger } from "../open-logger.ts";
import type { Terminal } from "../terminal.ts";

export interface OpenedClaims extends AsyncDisposable {
  readonly config: Config;
  readonly database: Database;
  readonly installation: Installation;
  readonly slots: readonly ClaimSlot[];
}

/** Connects to all of them. Throws the Fault that says what mends it. */
export async function openClaims(terminal: Terminal, verb: string): Promise<OpenedClaims> {
  const config = loadConfig();
  const logger = openLogger(terminal, config);
  await using opened = new AsyncDisposableStack();
  const database = opened.use(await connectDatabase({ config, verb, logger }));
  await assertSchemaCompatible(database);
  const installation = await currentInstallation(database);
  const [{ connectQueues }, { openLeaseStore }] = await Promise.all([
    import("@nightwriter/queue"),
    import("@nightwriter/lease-stores"),
  ]);
  const { queueUrl, queuePrefix: prefix, queuePoolSize: poolSize, leaseUrl, leaseMs } = config;
  const applicationName = `nightwriter ${verb}`;
  const queues = opened.use(
    await connectQueues({ url: queueUrl, prefix, applicationName, poolSize, logger, watchLocks: startLockWatch }),
  );
  const slots = [queues.claimSlot];
  if (leaseUrl !== "none") {
    const leases = await openLeaseStore({ url: leaseUrl, prefix, ttlMs: leaseMs, applicationName, logger });
    slots.push(opened.use(leases).claimSlot);
  }
  const running = opened.move();
  return { config, database, installation, slots, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
