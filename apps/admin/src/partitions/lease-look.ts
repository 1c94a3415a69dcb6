/** What the lease store says of a job's partitions, if there is one and it answers. */
import type { Config } from "@nightwriter/config";
import type { Job } from "@nightwriter/job";
import { LeaseFault, type LeaseSight, type LeaseStore } from "@nightwriter/lease";
import { openLeaseStore } from "@nightwriter/lease-stores";
import { partitionName } from "@nightwriter/partition";

export type LeaseLook =
  /** Leases are switched off. */
  | { readonly kind: "none" }
  | { readonly kind: "away"; readonly reason: string }
  | { readonly kind: "seen"; readonly store: string; readonly sights: ReadonlyMap<number, LeaseSight> };

/** Asks again and again over one connection; one that could not be made is tried anew at the next look. */
export interface LeaseWatch extends AsyncDisposable {
  /** Never rejects because of the store. */
  look(job: Job, partitionCount: number): Promise<LeaseLook>;
}

export function watchLeases({ leaseUrl, leaseMs, queuePrefix }: Config): LeaseWatch {
  let opened: LeaseStore | undefined;

  // Without a logger: what is wrong with the store is in the answer.
  const open = (): Promise<LeaseStore> =>
    openLeaseStore({ url: leaseUrl, prefix: queuePrefix, ttlMs: leaseMs, applicationName: "nightwriter partitions" });

  async function find(job: Job, partitionCount: number): Promise<LeaseLook> {
    const store = (opened ??= await open());
    const names = Array.from({ length: partitionCount }, (_, partition) => partitionName({ job, partition }));
    const found = await store.find(names);
    const sights = new Map<number, LeaseSight>();
    for (const [partition, name] of names.entries()) {
      const sight = found.get(name);
      if (sight !== undefined) sights.set(partition, sight);
    }
    return { kind: "seen", store: store.label, sights };
  }

  return {
    async look(job, partitionCount) {
      if (leaseUrl === "none") return { kind: "none" };
      try {
        return await find(job, partitionCount);
      } catch (error) {
        if (!(error instanceof LeaseFault) || error.code === "lease_url_invalid") throw error;
        return { kind: "away", reason: error.message };
      }
    },
    [Symbol.asyncDispose]: async () => opened?.close(),
  };
}
