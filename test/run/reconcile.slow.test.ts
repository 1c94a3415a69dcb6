import { connectQueues, type Queues } from "@nightwriter/queue";
import { enqueueDue, type ItemQueues, type QueueContext, type QueueItem, type Run, reconcile } from "@nightwriter/run";
import { barrier, bothQueues, type QueueStore, testQueue } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { allDue, pauseKey, setItemStatus, type TestJob, testJob } from "./test-job.ts";

const date = "2026-03-14";

interface QueuedNight extends AsyncDisposable {
  readonly night: TestJob;
  readonly context: QueueContext;
  readonly run: Run;
  readonly queues: Queues;
}

/** A planned night beside an empty queue. */
async function queuedNight(store: QueueStore, restaurants: number): Promise<QueuedNight> {
  await using stack = new AsyncDisposableStack();
  const night = stack.use(await testJob({ restaurants }));
  const { url, prefix } = stack.use(await testQueue(store));
  const queues = stack.use(await connectQueues({ url, prefix, applicationName: "test-of-run" }));
  const { run } = await night.plan(date);
  const own: ItemQueues = { partition: (partition) => queues.partition(night.job.definition.name, partition) };
  const context = { database: night.database, job: night.job, queues: own };
  const all = stack.move();
  return { night, context, run, queues, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** How many jobs of each state the queues of all partitions have. */
async function jobsOf({ night, queues }: QueuedNight): Promise<{ waiting: number; completed: number; failed: number }> {
  const sums = { waiting: 0, completed: 0, failed: 0 };
  for (let partition = 0; partition < night.job.partitionCount; partition += 1) {
    const { waiting, completed, failed } = await queues.partition(night.job.definition.name, partition).counts();
    sums.waiting += waiting;
    sums.completed += completed;
    sums.failed += failed;
  }
  return sums;
}

/** Consumes everything there is without applying it, and lets it end that way. */
async function consumeAll(queued: QueuedNight, end: "completed" | "failed"): Promise<void> {
  const { night, queues } = queued;
  const consumers = Array.from({ length: night.job.partitionCount }, (_, partition) =>
    queues.startConsumer({
      job: night.job.definition.name,
      partition,
      concurrency: 50,
      handle: async () => {
        if (end === "failed") throw unrecoverable;
      },
    }),
  );
  await expect.poll(async () => (await jobsOf(queued))[end], { timeout: 20_000 }).toBe(night.keys.length);
  await Promise.all(consumers.map((consumer) => consumer.stop()));
}

async function forget({ night, queues }: QueuedNight): Promise<void> {
  for (let partition = 0; partition < night.job.partitionCount; partition += 1) {
    await queues.partition(night.job.definition.name, partition).bullQueue.obliterate({ force: true });
  }
}

describe.each(bothQueues)("a queue in %s", (store) => {
  it("gets a job for each due item of the run, in chunks whose progress is told, and none twice", async () => {
    await using queued = await queuedNight(store, 1_300);
    const told: [number, number][] = [];
    const onProgress = (done: number, total: number): void => void told.push([done, total]);
    expect(await enqueueDue(queued.context, queued.run, { onProgress })).toBe(1_300);
    expect(told.at(-1)).toEqual([1_300, 1_300]);
    expect(told.length).toBeGreaterThanOrEqual(queued.night.job.partitionCount);
    expect(await enqueueDue(queued.context, queued.run)).toBe(1_300);
    expect(await jobsOf(queued)).toEqual({ waiting: 1_300, completed: 0, failed: 0 });
  });

  it("gets back all that it forgot, and no more", async () => {
    await using queued = await queuedNight(store, 40);
    await enqueueDue(queued.context, queued.run);
    await forget(queued);
    const items = await allDue(queued.night.database, queued.night.job);
    const [kept] = items;
    if (kept !== undefined) await queued.context.queues.partition(kept.partition).enqueue([ids(kept)]);
    expect(await reconcile(queued.context)).toEqual({ due: 40, lookedAt: 40, missing: 39, renewed: 0 });
    expect((await jobsOf(queued)).waiting).toBe(40);
    expect(await reconcile(queued.context)).toEqual({ due: 40, lookedAt: 0, missing: 0, renewed: 0 });
  });

  it.each(["completed", "failed"] as const)(
    "runs an item again under a new generation when its job %s and it is due",
    async (end) => {
      await using queued = await queuedNight(store, 12);
      await enqueueDue(queued.context, queued.run);
      await consumeAll(queued, end);
      expect(await reconcile(queued.context)).toMatchObject({ due: 12, missing: 0, renewed: 12 });
      expect((await jobsOf(queued)).waiting).toBe(12);
      const items = await allDue(queued.night.database, queued.night.job);
      expect(items.map(({ generation }) => generation)).toEqual(items.map(() => 1));
    },
  );

  it("is left alone where it has what is due, and never gets what is applied, parked or paused", async () => {
    await using queued = await queuedNight(store, 4);
    const { night } = queued;
    await night.applyDue(["r0001"]);
    await setItemStatus(night.db, queued.run.id, { key: "r0002", status: "parked" });
    await pauseKey(night.db, "r0003");
    expect(await reconcile(queued.context)).toEqual({ due: 1, lookedAt: 1, missing: 1, renewed: 0 });
    expect((await jobsOf(queued)).waiting).toBe(1);
    await night.db.updateTable("nightwriter.key_total").set({ paused_at: null }).execute();
    expect(await reconcile(queued.context)).toMatchObject({ due: 2, missing: 1 });
    expect((await jobsOf(queued)).waiting).toBe(2);
  });

  it("gets one new job for each item when several reconcile at once", async () => {
    await using queued = await queuedNight(store, 60);
    await enqueueDue(queued.context, queued.run);
    await consumeAll(queued, "completed");
    const start = barrier(4);
    const reconciled = await Promise.all(
      Array.from({ length: 4 }, async () => {
        await start.arrive();
        return reconcile(queued.context);
      }),
    );
    expect(reconciled.reduce((sum, { renewed }) => sum + renewed, 0)).toBe(60);
    expect(await jobsOf(queued)).toEqual({ waiting: 60, completed: 60, failed: 0 });
    const items = await allDue(queued.night.database, queued.night.job);
    expect(new Set(items.map(({ generation }) => generation))).toEqual(new Set([1]));
  });

  it("gets what a reconciler had raised and not enqueued when it died, from the next one", async () => {
    await using queued = await queuedNight(store, 20);
    await enqueueDue(queued.context, queued.run);
    await consumeAll(queued, "completed");
    const dying = { ...queued.context, queues: withoutEnqueue(queued.context.queues) };
    await expect(reconcile(dying)).rejects.toThrow("died before it enqueued");
    const raised = (await allDue(queued.night.database, queued.night.job)).filter(({ generation }) => generation === 1);
    expect(raised.length).toBeGreaterThan(0);
    expect(await reconcile(queued.context)).toMatchObject({ missing: raised.length, renewed: 20 - raised.length });
    expect((await jobsOf(queued)).waiting).toBe(20);
  });
});

const unrecoverable = Object.assign(new Error("not to be tried again"), { retryable: false });

function ids({ runId, key, businessDate, generation }: QueueItem): QueueItem {
  return { runId, key, businessDate, generation };
}

/** The real queues, to a process that dies where it would enqueue. */
function withoutEnqueue(queues: ItemQueues): ItemQueues {
  return {
    partition: (partition) => {
      const queue = queues.partition(partition);
      return {
        states: (items) => queue.states(items),
        counts: () => queue.counts(),
        enqueue: () => Promise.reject(new Error("died before it enqueued")),
      };
    },
  };
}
