import { getPartitionCount, type JobDefinition, registerJob } from "@nightwriter/job";
import { readTerms } from "@nightwriter/partition";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { bothPostgres, testDatabase } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";

const AT_ONCE = 10;
const ROUNDS = 10;

describe.each(bothPostgres)("registerJob on PostgreSQL %s", (server) => {
  it("makes one row and one term for each partition, however many processes start at once", async () => {
    await using test = await testDatabase({ server, max: AT_ONCE });
    const starting = Array.from({ length: AT_ONCE }, () => registerJob(test.database, restaurantTotals));
    const [first, ...others] = await Promise.all(starting);
    for (const other of others) expect(other).toEqual(first);
    const job = await registerJob(test.database, restaurantTotals);
    expect(await getPartitionCount(test.database, job)).toBe(restaurantTotals.partitionCount);
    expect((await readTerms(test.database, job)).map(({ partition }) => partition)).toEqual(
      Array.from({ length: restaurantTotals.partitionCount }, (_, partition) => partition),
    );
  });

  it("raises the query version though all processes of the newer build start at once", async () => {
    await using test = await testDatabase({ server, max: AT_ONCE });
    await registerJob(test.database, restaurantTotals);
    for (let round = 1; round <= ROUNDS; round++) {
      const newer: JobDefinition = { ...restaurantTotals, queryVersion: restaurantTotals.queryVersion + round };
      await Promise.all(Array.from({ length: AT_ONCE }, () => registerJob(test.database, newer)));
    }
    await expect(registerJob(test.database, restaurantTotals)).rejects.toMatchObject({ code: "query_version_differs" });
  });

  it("keeps the stored partition count, whatever the definition says later", async () => {
    await using test = await testDatabase({ server });
    await registerJob(test.database, { ...restaurantTotals, partitionCount: 4 });
    const job = await registerJob(test.database, { ...restaurantTotals, partitionCount: 8 });
    expect(job.partitionCount).toBe(4);
    expect(await readTerms(test.database, job)).toHaveLength(4);
  });
});
