/** `restaurants`, as an operator uses it. */
import { makeRestaurants, recordSales } from "@nightwriter/testkit";
import { expect, it } from "vitest";
import { documentOf, installation } from "./fixture.ts";

it("restaurants list, set, close and reopen say what is true afterwards, and refuse in one line", async () => {
  await using made = await installation();
  const { run, database } = made;
  await makeRestaurants(database.db, 2);
  await recordSales(database.db, [{ restaurant: "r0001", businessDate: "2026-03-14", amountMinor: 100n }]);

  const why = ["--reason", "ticket 4711"];
  const [set, currency, nothing, future] = await Promise.all([
    run("restaurants", "set", "r0001", "--cutoff", "04:00", "--from", "2026-03-15", ...why, "--json"),
    run("restaurants", "set", "r0001", "--currency", "EUR", ...why),
    run("restaurants", "set", "r0001", ...why),
    run("restaurants", "close", "r0009", "--since", "2026-03-15", ...why),
  ]);
  expect(set.code).toBe(0);
  expect(documentOf(set)).toMatchObject({
    changed: true,
    after: {
      clocks: [
        { from: null, cutoff: "00:00" },
        { from: "2026-03-15", cutoff: "04:00" },
      ],
    },
  });
  expect(currency).toMatchObject({ code: 2, stderr: expect.stringMatching(/r0001: has sales.*currency stays/) });
  expect(nothing).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("say --zone, --cutoff, --currency or --name"),
  });
  expect(future).toMatchObject({ code: 2, stderr: expect.stringContaining("restaurant r0009: is not known") });

  const closed = await run("restaurants", "close", "r0002", "--since", "2026-03-15", ...why);
  expect(closed).toMatchObject({ code: 0, stdout: expect.stringContaining("closed since 2026-03-15") });
  const listed = await run("restaurants", "list");
  expect(listed.code).toBe(0);
  expect(listed.stdout).toMatch(/r0001 .*00:00\n +\S+ +04:00 +2026-03-15\nr0002 .*closed since 2026-03-15/);
});
