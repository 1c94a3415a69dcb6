import { describe, expect, it } from "vitest";
import { QueueFault, queueName } from "./index.ts";
import { queueFault } from "./queue-fault.ts";

const withCode = (code: string): Error => Object.assign(new Error("no"), { code });

describe("queueFault", () => {
  it.each([
    ["a refused connection", withCode("ECONNREFUSED"), "queue_unreachable", true],
    ["a closed Redis connection", new Error("Connection is closed."), "queue_unreachable", true],
    [
      "an exhausted retry",
      new Error("Reached the max retries per request limit (which is 3)."),
      "queue_unreachable",
      true,
    ],
    ["a slow answer", new Error("Command timed out"), "queue_unreachable", true],
    ["a Redis that is loading", new Error("LOADING Redis is loading the dataset in memory"), "queue_unreachable", true],
    ["a full Redis", new Error("OOM command not allowed when used memory > 'maxmemory'."), "queue_full", true],
    ["a wrong Redis password", new Error("WRONGPASS invalid username-password pair"), "queue_denied", false],
    ["an error of a script", new Error("ERR Error running script"), "queue_failed", false],
    ["a Postgres that shuts down", withCode("57P01"), "queue_unreachable", true],
    ["a full disk", withCode("53100"), "queue_full", true],
    ["a wrong Postgres password", withCode("28P01"), "queue_denied", false],
    ["a missing database", withCode("3D000"), "queue_denied", false],
    ["a missing privilege", withCode("42501"), "queue_denied", false],
    ["every address refused", new AggregateError([withCode("ECONNREFUSED")], ""), "queue_unreachable", true],
    ["a bug", new TypeError("x is undefined"), "queue_failed", false],
    ["something thrown that is no error", "oops", "queue_failed", false],
  ])("takes %s for what it is", (...[, error, code, retryable]) => {
    expect(queueFault(error, "redis at cache:6379")).toMatchObject({ code, retryable, cause: error });
  });

  it("names the store and says what helps", () => {
    expect(queueFault(withCode("ECONNREFUSED"), "redis at cache:6379").message).toBe(
      "queue redis at cache:6379: no; try again, or see whether it runs",
    );
  });

  it("leaves a fault as it is", () => {
    const fault = new QueueFault("queue_misconfigured", "evicts");
    expect(queueFault(fault, "redis")).toBe(fault);
  });
});

describe("queueName", () => {
  it("is hash-tagged and holds no colon", () => {
    expect(queueName("restaurant-totals", 7)).toBe("{restaurant-totals-7}");
  });

  it.each([
    ["Totals", 0],
    ["a:b", 0],
    ["a}b", 0],
    ["", 0],
    ["a", -1],
    ["a", 1.5],
  ])("throws for job %j, partition %d", (job, partition) => {
    expect(() => queueName(job, partition)).toThrow(/^(job|partition) /);
  });
});
