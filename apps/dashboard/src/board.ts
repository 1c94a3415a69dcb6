/** Bull Board over the queues of every partition of every job that the database knows. */
import { createBullBoard } from "@bull-board/api";
import { BullMQAdapter } from "@bull-board/api/bullMQAdapter";
import { FastifyAdapter } from "@bull-board/fastify";
import { type Database, sqlFault } from "@nightwriter/database";
import type { PartitionQueue, Queues } from "@nightwriter/queue";
import type { FastifyPluginCallback } from "fastify";

export interface Board {
  readonly plugin: FastifyPluginCallback;
  /** Shows the queues of the partitions that there are now, and no others. Throws SqlFault. */
  refresh(): Promise<void>;
}

export function createBoard(database: Database, queues: Queues): Board {
  const serverAdapter = new FastifyAdapter();
  const board = createBullBoard({
    queues: [],
    serverAdapter,
    // On PostgreSQL workers share connections, by whose names BullMQ would find them: it would say that there are none.
    options: { uiConfig: { boardTitle: "Nightwriter", hideDocsLink: true, showWorkers: queues.kind === "redis" } },
  });
  const shown = new Set<string>();
  return {
    plugin: serverAdapter.registerPlugin(),
    async refresh() {
      const there = new Map((await partitionQueues(database, queues)).map((queue) => [queue.name, queue]));
      for (const [name, queue] of there) {
        if (!shown.has(name)) board.addQueue(adapterOf(queue));
        shown.add(name);
      }
      for (const name of shown
        .keys()
        .filter((each) => !there.has(each))
        .toArray()) {
        board.removeQueue(name);
        shown.delete(name);
      }
    },
  };
}

async function partitionQueues(database: Database, queues: Queues): Promise<PartitionQueue[]> {
  const jobs = await database.db
    .selectFrom("nightwriter.job")
    .select(["name", "partition_count"])
    .orderBy("name")
    .execute()
    .catch((error: unknown) => Promise.reject(sqlFault(error)));
  return jobs.flatMap((job) =>
    Array.from({ length: job.partition_count }, (_, index) => queues.partition(job.name, index)),
  );
}

/** Read-only: whoever retries or removes a queue job by hand goes behind Postgres' back; the command line has verbs for it. */
function adapterOf({ bullQueue, job, partition }: PartitionQueue): BullMQAdapter {
  return new BullMQAdapter(bullQueue, {
    readOnlyMode: true,
    allowRetries: false,
    displayName: `${job} ${String(partition).padStart(2, "0")}`,
    description: `partition ${partition} of ${job}`,
  });
}
