import { CommanderError } from "@commander-js/extra-typings";
import { Fault } from "@nightwriter/core";
import { describe, expect, it } from "vitest";
import { describeFailure } from "./failure.ts";
import { Interrupted } from "./interrupt.ts";
import { UsageFault } from "./usage-fault.ts";

describe("describeFailure", () => {
  it("takes a fault's line as it is, and its code and details for machines", async () => {
    const fault = new Fault("server_too_old", "database: PostgreSQL 14 is not supported", {
      details: { version: 14n },
    });
    expect(await describeFailure(fault, "status")).toMatchObject({
      exitCode: 1,
      line: "database: PostgreSQL 14 is not supported",
      document: { error: { code: "server_too_old", details: { version: 14n } } },
    });
  });

  it("masks the password of a URL in line and stack", async () => {
    const cause = new Error("connect postgres://night:sesame@db/night failed");
    const { line, stack } = await describeFailure(
      new Fault("away", `database: ${cause.message}`, { cause }),
      undefined,
    );
    expect(`${line}${stack}`).not.toContain("sesame");
    expect(line).toBe("database: connect postgres://night:***@db/night failed");
  });

  it.each([
    [new UsageFault("restaurant Sohoo: unknown"), 2],
    [new Fault("night_missing", "the night was never run"), 2],
    [new Interrupted("SIGINT"), 130],
    [new Interrupted("SIGTERM"), 143],
    [new CommanderError(1, "commander.unknownOption", "error: unknown option '--x'"), 2],
    [new TypeError("undefined is not a function"), 1],
    ["a text", 1],
  ])("ends %s with %s", async (error, exitCode) => {
    expect(await describeFailure(error, undefined)).toMatchObject({ exitCode });
  });

  it("tells what went wrong first, not what could not be closed any more because of it", async () => {
    const error = new SuppressedError(new Error("connection is closed"), new Interrupted("SIGINT"));
    const { exitCode, line, stack } = await describeFailure(error, "demo");
    expect({ exitCode, line }).toEqual({ exitCode: 130, line: "interrupted (SIGINT)" });
    expect(stack).toContain("connection is closed");
  });

  it("shows the causes of a fault in its stack", async () => {
    const fault = new Fault("outer", "outer", { cause: new Error("the innermost reason") });
    expect((await describeFailure(fault, undefined)).stack).toContain("caused by Error: the innermost reason");
  });
});
