import { LeaseFault } from "@nightwriter/lease";
import { describe, expect, it } from "vitest";
import { isReadOnly, isRedirection, leaseFault } from "./redis-fault.ts";

/** What the client makes of an error that a server answers. */
function reply(message: string): Error {
  return Object.assign(new Error(message), { name: "ReplyError" });
}

describe("leaseFault", () => {
  it.each([
    ["LOADING Redis is loading the dataset in memory", "lease_store_away", true],
    ["READONLY You can't write against a read only replica.", "lease_store_away", true],
    [
      "ERR Error running script (call to f_1): @user_script:2: @user_script: 2: -READONLY You can't write against a read only replica.",
      "lease_store_away",
      true,
    ],
    ["CLUSTERDOWN The cluster is down", "lease_store_away", true],
    ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", "lease_store_away", true],
    ["BUSY Redis is busy running a script.", "lease_store_away", true],
    ["MOVED 866 127.0.0.1:7001", "lease_store_away", true],
    ["OOM command not allowed when used memory > 'maxmemory'.", "lease_store_unfit", true],
    ["MISCONF Errors writing to the AOF file: No space left on device", "lease_store_unfit", true],
    ["WRONGPASS invalid username-password pair or user is disabled.", "lease_store_unfit", false],
    ["NOAUTH Authentication required.", "lease_store_unfit", false],
    ["NOPERM this user has no permissions to run the 'eval' command", "lease_store_unfit", false],
    ["ERR unknown command 'eval'", "lease_store_unfit", false],
  ])("of the answer %j is %s, retryable %s", (message, code, retryable) => {
    expect(leaseFault(reply(message), "redis at cache:6379")).toMatchObject({ code, retryable });
  });

  it.each(["connect ECONNREFUSED 127.0.0.1:6379", "not connected", "no answer within 900 ms"])(
    "of %j is that the store is away",
    (message) => {
      const cause = new Error(message);
      const fault = leaseFault(cause, "redis at cache:6379");
      expect(fault).toMatchObject({ code: "lease_store_away", retryable: true, cause });
      expect(fault.message).toBe(`leases in redis at cache:6379: ${message}; try again, or see whether it runs`);
    },
  );

  it("speaks of a lost connection where the client speaks of an option", () => {
    const error = Object.assign(new Error("Reached the max retries per request limit"), {
      name: "MaxRetriesPerRequestError",
    });
    expect(leaseFault(error, "x").message).toContain("connection lost");
  });

  it("leaves a fault as it is", () => {
    const fault = new LeaseFault("lease_url_invalid", "a fault");
    expect(leaseFault(fault, "x")).toBe(fault);
  });
});

describe("isReadOnly", () => {
  it("sees a replica's answer, also where a script hides it", () => {
    expect(isReadOnly(reply("READONLY You can't write against a read only replica."))).toBe(true);
    expect(isReadOnly(reply("ERR Error running script: @user_script: 2: -READONLY You can't write"))).toBe(true);
    expect(isReadOnly(reply("OOM command not allowed"))).toBe(false);
  });
});

describe("isRedirection", () => {
  it("is an answer that names another node", () => {
    expect(isRedirection(reply("MOVED 866 127.0.0.1:7001"))).toBe(true);
    expect(isRedirection(reply("ASK 866 127.0.0.1:7001"))).toBe(true);
    expect(isRedirection(reply("CLUSTERDOWN The cluster is down"))).toBe(false);
    expect(isRedirection("MOVED on")).toBe(false);
  });
});
