/**
 * The terms that this process writes under: without leases, whatever terms the partitions have now. It reads them and
 * never raises them. Somebody else may (a test, an operator, a worker of a later build): then a write is fenced, the
 * terms are read again, and the next write is under the new one.
 */
import type { Term } from "@nightwriter/partition";

export interface TermReader {
  /** The term of the partition as it was read last. Undefined: the job has no such partition, any more. */
  current(partition: number): Term | undefined;
  /** Afterwards `current` is newer than `refused`, or as the database had it just now. Calls at the same time share one read. */
  readAgain(refused: Term): Promise<void>;
}

/** Reads all terms of a job once, with `read`, which hands them over in any order. */
export async function readTermsOnce(read: () => Promise<readonly Term[]>): Promise<TermReader> {
  let terms = await readAll();
  let reading: Promise<void> | undefined;

  async function readAll(): Promise<ReadonlyMap<number, Term>> {
    return new Map((await read()).map((term) => [term.partition, term]));
  }

  async function readNow(): Promise<void> {
    try {
      terms = await readAll();
    } finally {
      reading = undefined;
    }
  }

  return {
    current: (partition) => terms.get(partition),
    async readAgain(refused) {
      const now = terms.get(refused.partition);
      if (now?.fencingToken !== refused.fencingToken || now.nonce !== refused.nonce) return;
      await (reading ??= readNow());
    },
  };
}
