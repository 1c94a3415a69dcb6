import { describe, expect, it } from "vitest";
import { type LeaseFacts, planLease } from "./lease-plan.ts";

/** The lesson's first case: 1,000 runs a night, 1 in 100 slower than the lease of 30 s. */
const lesson: LeaseFacts = {
  leaseMs: 30_000,
  p99Ms: 20_000,
  runs: 1_000,
  slowShare: 0.01,
  grantsPerSecond: 2,
  replicationDelayMs: 400,
  compareLeaseMs: 600_000,
};

/** The second: 5,000 locks of 20 s, against 15 minutes. */
const manyLocks: LeaseFacts = {
  ...lesson,
  leaseMs: 20_000,
  p99Ms: undefined,
  runs: 5_000,
  compareLeaseMs: 900_000,
};

describe("planLease, 1,000 runs a night, lease 30 s, 1 in 100 slower", () => {
  const plan = planLease(lesson);

  it("has 10 runs outlive the lease without renewal, and none with it", () => {
    expect(plan.outliveWithoutRenewal).toBe(10);
    expect(plan.outliveWithRenewal).toBe(0);
  });

  it("renews every 10 s, a third", () => {
    expect(plan.renewalMs).toBe(10_000);
  });

  it("makes work wait 30 s at most after a crash, and 600 s with a lease of ten minutes, 20 times longer", () => {
    expect(plan.longestWaitMs).toBe(30_000);
    expect(plan.compared).toEqual({ leaseMs: 600_000, longestWaitMs: 600_000, ratio: 20 });
  });

  it("has 0.8 grants that are not yet copied, at 2 a second and 0.4 s of delay", () => {
    expect(plan.grantsNotCopied).toBe(0.8);
  });

  it("recommends 30 s, renewal every 10 s and a margin of 3 s, for runs of which 99 of 100 take 20 s", () => {
    expect(plan.recommendation).toMatchObject({ leaseMs: 30_000, renewalMs: 10_000, marginMs: 3_000 });
    expect(plan.recommendation.reason).toContain("instead of 600 s");
  });
});

describe("planLease, 5,000 locks, lease 20 s, 1 % slow", () => {
  const plan = planLease(manyLocks);

  it("has 50 outlive the lease", () => {
    expect(plan.outliveWithoutRenewal).toBe(50);
  });

  it("makes work wait 20 s after a crash against 900 s, 45 times longer", () => {
    expect([plan.longestWaitMs, plan.compared.longestWaitMs, plan.compared.ratio]).toEqual([20_000, 900_000, 45]);
  });

  it("keeps the length when nothing is known of how long runs take", () => {
    expect(plan.recommendation).toMatchObject({ leaseMs: 20_000, renewalMs: 6_666, marginMs: 2_000 });
    expect(plan.recommendation.reason).toContain("not known");
  });
});

describe("planLease", () => {
  it("is exact where binary fractions are not", () => {
    expect(planLease({ ...lesson, runs: 1_100, slowShare: 0.07 }).outliveWithoutRenewal).toBe(77);
    expect(planLease({ ...lesson, grantsPerSecond: 0.1, replicationDelayMs: 3_000 }).grantsNotCopied).toBe(0.3);
  });

  it("has a fraction of a run outlive the lease where one night in ten has one", () => {
    expect(planLease({ ...lesson, runs: 10 }).outliveWithoutRenewal).toBe(0.1);
  });

  it.each([
    [200, 10_000, "too short for an ordinary pause"],
    [6_700, 11_000, "1.5 times"],
    [60_000, 90_000, "1.5 times"],
    [1_000_000, 600_000, "the longest that can be set"],
  ])("recommends for a 99th percentile of %i ms a lease of %i ms (%s)", (p99Ms, leaseMs, word) => {
    const { recommendation } = planLease({ ...lesson, p99Ms });
    expect(recommendation.leaseMs).toBe(leaseMs);
    expect(recommendation.reason).toContain(word);
  });

  it.each([
    [1, 1_000, "the shortest that can be set"],
    [86_400_000, 600_000, "the longest that can be set"],
  ])(
    "recommends instead of %i ms, where nothing is known of runs, the %i ms that LEASE_MS takes",
    (leaseMs, kept, word) => {
      const { recommendation } = planLease({ ...manyLocks, leaseMs });
      expect(recommendation.leaseMs).toBe(kept);
      expect(recommendation.reason).toContain(word);
    },
  );

  it("is sure of a pause that is two thirds of the lease", () => {
    expect(planLease(lesson).surePauseMs).toBe(20_000);
  });
});
