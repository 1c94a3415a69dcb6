/**
 * Taking a partition: acquire its lease, raise its term, and only then consume.
 *
 * Who cannot take it now tries again later, by the ordinary loop; nothing here waits for anything but answers. Raises take
 * turns on one connection, so that one that waits for a write in flight keeps no heartbeat waiting.
 */
import { Fault, type Logger } from "@nightwriter/core";
import type { Database } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import { type Lease, LeaseFault, type LeaseKeeper } from "@nightwriter/lease";
import { partitionName, raiseTerm, readTerms, sealTerm, type Term } from "@nightwriter/partition";
import { createStatementSlots } from "../statement-slots.ts";
import { createLeasedWarrant } from "../warrant/leased-warrant.ts";
import { readTermsOnce, type TermReader } from "../warrant/term-reader.ts";
import { createUnleasedWarrant } from "../warrant/unleased-warrant.ts";
import type { HoldingOptions } from "./holding.ts";

export interface TakingOptions {
  readonly database: Database;
  readonly leases: LeaseKeeper;
  /** Who holds: stands in the term's row. */
  readonly worker: string;
}

type Take = HoldingOptions["take"];

export function takingWithLeases({ database, leases, worker }: TakingOptions): Take {
  const turns = createStatementSlots(1);
  const inTurn = async <Answer>(work: () => Promise<Answer>): Promise<Answer> => {
    const done = await turns.acquire();
    return work().finally(done);
  };

  async function raise(job: Job, { partition, lease }: { partition: number; lease: Lease }): Promise<Term | undefined> {
    // A term that nobody may use any more is not raised: it would shut out whoever holds the partition by then.
    const claim = { partition, holder: worker, nonce: lease.nonce };
    return inTurn(async () => (lease.leftMs() > 0 ? raiseTerm(database, job, claim) : undefined));
  }

  return async (own, logger) => {
    const { job, partition } = own;
    const lease = await acquire(leases, partitionName(own));
    if (lease === undefined) return undefined;
    const term = await raise(job, { partition, lease }).catch((error: unknown) => passWeather(error, logger));
    if (term === undefined) {
      await leases.release(lease);
      return undefined;
    }
    // Seals take turns: where each of them waits in vain for the database, the last ones are no more worth it.
    const seal = async (ended: Term): Promise<boolean> =>
      inTurn(async () => lease.leftMs() > 0 && sealTerm(database, job, ended));
    return createLeasedWarrant({ lease, term, leases, seal, logger });
  };
}

/** Without leases all partitions are free to be taken, at any time and by anybody. */
export function takingWithoutLeases(database: Database): Take {
  const readers = new WeakMap<Job, Promise<TermReader>>();
  return async ({ job, partition }, logger) => {
    const reader = readers.get(job) ?? readTermsOnce(() => readTerms(database, job));
    readers.set(job, reader);
    try {
      return createUnleasedWarrant({ partition, terms: await reader, logger });
    } catch (error) {
      readers.delete(job);
      return passWeather(error, logger);
    }
  };
}

async function acquire(leases: LeaseKeeper, name: string): Promise<Lease | undefined> {
  try {
    return await leases.acquire(name);
  } catch (error) {
    // The keeper has logged it.
    if (error instanceof LeaseFault) return undefined;
    throw error;
  }
}

function passWeather(error: unknown, logger: Logger): undefined {
  if (!(error instanceof Fault && error.retryable)) throw error;
  logger.warn({ err: error }, "partition not taken: trying again");
}
