/** The verbs on claims, on two installations that share a prefix in one Redis. */
import { silentLogger, systemClock } from "@nightwriter/core";
import { createClaimant, currentInstallation } from "@nightwriter/installation";
import { connectQueues } from "@nightwriter/queue";
import { testDatabase } from "@nightwriter/testkit";
import { describe, expect, it } from "vitest";
import { documentOf, installation, nightwriter } from "../cli/fixture.ts";

describe("nightwriter installation", { timeout: 180_000 }, () => {
  it("tells whose a prefix is, takes it over with a reason and a record, and keeps the other one's verbs out", async () => {
    await using first = await installation("redis");
    await using copy = await testDatabase();
    const settings: Readonly<Record<string, string>> = { ...first.settings, DATABASE_URL: copy.url };
    const run = async (...args: readonly string[]) => nightwriter(args, settings);
    const { url, prefix } = { url: settings["QUEUE_URL"] ?? "", prefix: settings["QUEUE_PREFIX"] ?? "" };
    await using queues = await connectQueues({ url, prefix, applicationName: "test" });
    const [mine, theirs] = [await currentInstallation(first.database), await currentInstallation(copy.database)];
    const by = { prefix, slots: [queues.claimSlot], by: "a worker", clock: systemClock, logger: silentLogger };
    await createClaimant({ installation: mine, ...by }).look();

    const [shown, refused, planned] = await Promise.all([
      run("installation", "--json"),
      run("run", "--date", "2026-03-14", "--json"),
      run("installation", "take-over", "--reason", "a look", "--dry-run", "--json"),
    ]);
    expect(shown.code, shown.stderr).toBe(3);
    expect(documentOf(shown)).toMatchObject({
      installation: theirs,
      claims: [
        { owner: "another's", claim: { installation: mine.id, by: "a worker" } },
        { owner: "another's", claim: { installation: mine.id } },
      ],
    });
    expect(refused).toMatchObject({ code: 1 });
    expect(documentOf(refused)).toMatchObject({
      error: { code: "prefix_claimed", details: { claimedBy: mine.id, claimedDatabase: mine.database } },
    });
    expect(documentOf(planned)).toMatchObject({ changed: false, stores: [{ before: { installation: mine.id } }, {}] });

    const taken = await run("installation", "take-over", "--reason", "restored in its place");
    expect(taken.code, taken.stderr).toBe(0);
    expect(taken.stdout).toMatch(
      RegExp(`taken over; had it before: installation ${mine.id} .*last seen .* as a worker`),
    );
    const records = await copy.db.selectFrom("nightwriter.audit_log").selectAll().execute();
    const record = { verb: "installation take-over", reason: "restored in its place", after: theirs };
    expect(records, "one for each store").toMatchObject([record, record]);
    const [own, former] = await Promise.all([run("installation"), first.run("installation")]);
    expect([own.code, former.code]).toEqual([0, 3]);
  });

  it("makes a copy another installation, and says what to do next", async () => {
    await using copy = await testDatabase();
    const before = await currentInstallation(copy.database);
    const fork = async (...args: readonly string[]) =>
      nightwriter(["installation", "fork", ...args], { DATABASE_URL: copy.url });
    expect(documentOf(await fork("--reason", "a look", "--dry-run", "--json"))).toEqual({ changed: false, before });
    const forked = await fork("--reason", "load tests");
    expect(forked).toMatchObject({ code: 0, stdout: expect.stringContaining("QUEUE_PREFIX of its own") });
    expect((await currentInstallation(copy.database)).id).not.toBe(before.id);
    expect(await fork()).toMatchObject({ code: 2, stderr: expect.stringContaining("--reason") });
  });
});
