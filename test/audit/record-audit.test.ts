/** A change by hand and its record are one transaction. */

import { type AuditRecord, recordAudit } from "@nightwriter/audit";
import { bothPostgres, testDatabase } from "@nightwriter/testkit";
import { describe, expect, test } from "vitest";

const record: AuditRecord = {
  actor: { name: "asha", host: "ops-1" },
  verb: "items retry",
  jobId: 1,
  arguments: { key: "77", date: "2026-03-01" },
  reason: "the overflow was put right",
  before: { status: "parked", totalMinor: 9_007_199_254_740_993n },
  after: { status: "due" },
};

describe.each(bothPostgres)("recordAudit on PostgreSQL %s", (server) => {
  test("keeps who, where, why, and before and after, amounts to the last digit", async () => {
    await using test = await testDatabase({ server });
    await test.db.transaction().execute(async (transaction) => recordAudit(transaction, record));
    const rows = await test.db.selectFrom("nightwriter.audit_log").selectAll().execute();
    expect(rows).toMatchObject([
      {
        actor: "asha",
        host: "ops-1",
        verb: "items retry",
        job_id: 1,
        arguments: record.arguments,
        reason: record.reason,
        before: { status: "parked", totalMinor: "9007199254740993" },
        after: { status: "due" },
      },
    ]);
  });

  test("leaves nothing behind when the change is rolled back", async () => {
    await using test = await testDatabase({ server });
    const change = test.db.transaction().execute(async (transaction) => {
      await recordAudit(transaction, record);
      throw new Error("changed my mind");
    });
    await expect(change).rejects.toThrow("changed my mind");
    expect(await test.db.selectFrom("nightwriter.audit_log").selectAll().execute()).toEqual([]);
  });
});
