import { Fault } from "@nightwriter/core";
import { describe, expect, it } from "vitest";
import { createLogger } from "./index.ts";

function capture(pretty = false): {
  logger: ReturnType<typeof createLogger>;
  lines: string[];
  parsed: () => Record<string, unknown>[];
} {
  const lines: string[] = [];
  const logger = createLogger({
    name: "probe",
    level: "debug",
    pretty,
    fields: { worker: "w1" },
    output: { write: (line) => lines.push(line) },
  });
  return { logger, lines, parsed: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe("createLogger", () => {
  it("writes one JSON object per line with label, instant, name and bound fields", () => {
    const { logger, lines, parsed } = capture();
    logger.info({ partition: 7 }, "started");
    expect(lines[0]).toMatch(/\}\n$/);
    expect(parsed()[0]).toMatchObject({ level: "info", name: "probe", worker: "w1", partition: 7, msg: "started" });
    expect(() => Temporal.Instant.from(String(parsed()[0]?.["time"]))).not.toThrow();
  });

  it("leaves out what is below its level", () => {
    const { logger, lines } = capture();
    logger.trace({}, "too fine");
    expect(lines).toEqual([]);
  });

  it("writes an error with its code, its details and the chain of its causes", () => {
    const { logger, parsed } = capture();
    const cause = new Error("socket closed");
    logger.error(
      { err: new Fault("away", "queue: away", { details: { port: 6379, token: 2n ** 60n }, cause }) },
      "lost",
    );
    expect(parsed()[0]?.["err"]).toMatchObject({
      message: "queue: away",
      code: "away",
      details: { port: 6379, token: "1152921504606846976" },
      cause: { message: "socket closed" },
    });
  });

  it("writes a bigint as a decimal string, so that no digit is lost", () => {
    const { logger, parsed } = capture();
    logger.info({ totalMinor: 9007199254740993n, nested: { deltaMinor: -1n } }, "applied");
    expect(parsed()[0]).toMatchObject({ totalMinor: "9007199254740993", nested: { deltaMinor: "-1" } });
  });

  it.each([false, true])(
    "prints no password, whether in a field, a message, an error or a child's field (pretty: %s)",
    (pretty) => {
      const { logger, lines } = capture(pretty);
      const url = "postgres://night:s3cr/et@x@db:5432/night?sslpassword=s3cret2";
      logger
        .child({ url })
        .warn({ nested: { url }, err: new Error(`cannot reach ${url}`) }, `lost ${url}, trying again`);
      const text = lines.join("");
      expect(text).toContain("postgres://night:***@db:5432/night?sslpassword=***");
      expect(text).not.toMatch(/s3cr|s3cret2/);
      expect(text).toContain("trying again");
    },
  );

  it("writes of a Redis command that failed its name and none of its arguments, among which are passwords", () => {
    const { logger, lines, parsed } = capture();
    const command = { name: "hello", args: ["3", "AUTH", "night", "s3cret"] };
    const refused = Object.assign(new Error("WRONGPASS invalid username-password pair"), { command });
    const within = Object.assign(new Error("no node answered"), { lastNodeError: refused });
    logger.error({ err: new Fault("unfit", "store: refused", { cause: refused }) }, "of a cause");
    logger.error({ err: within }, "of an error within");
    logger.error({ err: new AggregateError([refused], "all failed") }, "of several");
    logger.error({ err: refused }, "of the error itself");
    expect(lines.join("")).not.toContain("s3cret");
    expect(parsed()).toMatchObject([
      { err: { cause: { command: "hello" } } },
      { err: { lastNodeError: { command: "hello" } } },
      { err: { aggregateErrors: [{ command: "hello" }] } },
      { err: { command: "hello" } },
    ]);
  });

  it.each(["err", "reason", "why"])("tells of an error in %s nothing that a driver hung on it", (field) => {
    const { logger, lines } = capture();
    const client = { secretKey: 1_234_567, processID: 7, connectionParameters: { password: "s3cret" } };
    const lost = Object.assign(new Error("Connection terminated unexpectedly"), { client, code: "57P01" });
    const fault = new Fault("away", "database: away", { details: { port: 5 }, cause: lost });
    logger.warn({ [field]: lost }, "database connection lost");
    logger.warn({ [field]: fault }, "of a cause");
    logger.warn({ [field]: new AggregateError([lost], "all") }, "of several");
    logger.warn({ [field]: new SuppressedError(lost, fault, "then") }, "of two");
    logger.warn({ nested: { [field]: lost } }, "further down");
    const text = lines.join("");
    expect(text).not.toMatch(/1234567|secretKey|s3cret|connectionParameters/);
    expect(text.match(/57P01/g)?.length).toBeGreaterThanOrEqual(4);
  });

  it("writes a readable line for a terminal", () => {
    const { logger, lines } = capture(true);
    logger.info({ partition: 7 }, "started");
    expect(lines[0]).toMatch(/^\[\d\d:\d\d:\d\d\.\d+\] INFO: started \{.*"partition":7.*\}\n$/);
  });
});
