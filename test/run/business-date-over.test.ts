import { ensureNightlyRun, ensureRequestedRun, type RunRequest } from "@nightwriter/run";
import { databaseNow, endsAt } from "@nightwriter/schedule";
import { describe, expect, it } from "vitest";
import { type TestJob, testJob } from "./test-job.ts";

const date = (text: string): Temporal.PlainDate => Temporal.PlainDate.from(text);
const instant = (text: string): Temporal.Instant => Temporal.Instant.from(text);

const runsOf = async ({ db }: TestJob): Promise<number> =>
  (await db.selectFrom("nightwriter.run").select("id").execute()).length;

/** The date that it is by the database's clock in the job's zone, and so many days after it. */
async function daysAhead({ database, job }: TestJob, days: number): Promise<Temporal.PlainDate> {
  const now = await databaseNow(database);
  return now.toZonedDateTimeISO(job.definition.timeZone).toPlainDate().add({ days });
}

describe("endsAt", () => {
  it.for([
    ["Asia/Kolkata", "2026-03-14", "2026-03-14T18:30:00Z"],
    ["America/New_York", "2026-03-08", "2026-03-09T04:00:00Z"],
    // Clocks go forward at midnight: the next day begins at 01:00.
    ["America/Sao_Paulo", "2018-11-03", "2018-11-04T03:00:00Z"],
    // Samoa had no 2011-12-30.
    ["Pacific/Apia", "2011-12-29", "2011-12-30T10:00:00Z"],
  ] as const)("is the first instant of the next day in %s", ([timeZone, text, ends]) => {
    expect(endsAt({ definition: { cron: "30 3 * * *", timeZone } }, date(text)).toString()).toBe(ends);
  });
});

describe("a night", () => {
  it.for(["America/New_York", "Pacific/Kiritimati"])(
    "is refused as long as its business date is not over in %s, and planned from the next instant on",
    async (timeZone) => {
      await using night = await testJob({ definition: { timeZone } });
      const { database, job } = night;
      const businessDate = date("2026-03-14");
      const over = endsAt(job, businessDate);
      const plan = async (now: Temporal.Instant) => ensureNightlyRun(database, job, { businessDate, now });
      await expect(plan(over.subtract({ milliseconds: 1 }))).rejects.toMatchObject({
        code: "business_date_not_over",
        message: expect.stringContaining(`2026-03-14 is not over in ${timeZone} until ${over.toString()}`),
      });
      expect(await runsOf(night)).toBe(0);
      expect(await plan(over)).toMatchObject({ created: true, planned: 2 });
      // Nor does one that is there already get more.
      await expect(plan(over.subtract({ hours: 1 }))).rejects.toMatchObject({ code: "business_date_not_over" });
    },
  );

  it("is refused by the database's clock, whoever asks", async () => {
    await using night = await testJob();
    for (const days of [1, 2, 400]) {
      await expect(ensureNightlyRun(night.database, night.job, await daysAhead(night, days))).rejects.toMatchObject({
        code: "business_date_not_over",
      });
    }
    expect(await runsOf(night)).toBe(0);
  });
});

describe("a requested run", () => {
  const now = instant("2026-03-14T20:00:00Z");
  const businessDate = date("2026-03-14");
  const request = (night: TestJob, asked: Pick<RunRequest, "kind"> & { keys?: readonly string[] }) =>
    ensureRequestedRun(night.database, night.job, { ...asked, businessDate, now, requestId: asked.kind } as RunRequest);

  it("of a whole date is refused as long as the date is not over", async () => {
    await using night = await testJob();
    await night.plan("2026-03-13");
    for (const kind of ["backfill", "rerun"] as const) {
      await expect(request(night, { kind })).rejects.toMatchObject({ code: "business_date_not_over" });
    }
    expect(await runsOf(night)).toBe(1);
  });

  it("of named keys may be for today, and leaves the night of the date as whole as it was", async () => {
    await using night = await testJob();
    const [first = ""] = night.keys;
    expect(await request(night, { kind: "manual", keys: [first] })).toMatchObject({ created: true, planned: 1 });
    await night.applyDue();
    expect(await night.plan("2026-03-14")).toMatchObject({ planned: 2 });
  });

  it("of named keys is refused for a date that has begun nowhere", async () => {
    await using night = await testJob();
    const { database, job, keys } = night;
    const asked = { kind: "manual", keys, requestId: "a" } as const;
    await expect(
      ensureRequestedRun(database, job, { ...asked, businessDate: await daysAhead(night, 3) }),
    ).rejects.toMatchObject({ code: "business_date_not_over", message: expect.stringContaining("lies in the future") });
  });
});
