import type { Config } from "@nightwriter/config";
import { type Logger, systemClock } from "@nightwriter/core";
import type { Database } from "@nightwriter/database";
import { type ClaimSlot, createClaimant, currentInstallation } from "@nightwriter/installation";

interface Asked {
  readonly config: Config;
  readonly database: Database;
  readonly logger: Logger;
  readonly slots: readonly ClaimSlot[];
}

/** Throws InstallationFault `prefix_claimed` where another installation uses the prefix. Claims nothing: that is for processes that stay. */
export async function assertUnclaimed({ config, database, logger, slots }: Asked): Promise<void> {
  const installation = await currentInstallation(database);
  const { queuePrefix: prefix, workerName: by } = config;
  await createClaimant({ installation, prefix, slots, by, clock: systemClock, logger }).check();
}
