import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it } from "vitest";

const index = new URL("./index.ts", import.meta.url).href;

/** A process of its own that says `ready` on stdout, with `body` as what it does. Its log lines come on stderr. */
async function start(
  body: string,
): Promise<{ child: ChildProcess; ended: Promise<{ code: number | null; log: string }> }> {
  const source = `import { createLogger, onShutdown } from ${JSON.stringify(index)};
    const logger = createLogger({ name: "probe", pretty: false });
    ${body}
    setInterval(() => {}, 1000);
    process.stdout.write("ready");`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", source], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const ended = once(child, "close").then(([code]) => ({ code: code as number | null, log }));
  await Promise.race([once(child.stdout, "data"), ended]);
  return { child, ended };
}

describe("onShutdown", () => {
  it("runs stop at the first SIGTERM and exits with 0 when it is done", async () => {
    const { child, ended } = await start(
      `onShutdown({ logger, deadlineMs: 5000, stop: async (signal) => logger.info({ signal }, "drained") });`,
    );
    child.kill("SIGTERM");
    const { code, log } = await ended;
    expect(code).toBe(0);
    expect(log).toContain(`"signal":"SIGTERM","msg":"drained"`);
    expect(log).toContain(`"msg":"stopped"`);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("leaves at once at a second %s with %i", async (signal, expected) => {
    const { child, ended } = await start(
      `onShutdown({ logger, deadlineMs: 60_000, stop: () => { process.stdout.write("stopping"); return new Promise(() => {}); } });`,
    );
    const stopping = once(child.stdout ?? child, "data");
    child.kill("SIGTERM");
    await stopping;
    child.kill(signal);
    const { code, log } = await ended;
    expect(code).toBe(expected);
    expect(log).toContain("second signal: leaving at once");
  });

  it("exits with 1 when stop takes longer than the deadline", async () => {
    const { child, ended } = await start(`onShutdown({ logger, deadlineMs: 50, stop: () => new Promise(() => {}) });`);
    child.kill("SIGTERM");
    const { code, log } = await ended;
    expect(code).toBe(1);
    expect(log).toContain("not stopped in time");
  });

  it("exits with 1 when stop fails, and says why", async () => {
    const { child, ended } = await start(
      `onShutdown({ logger, deadlineMs: 5000, stop: async () => { throw new Error("pool is gone"); } });`,
    );
    child.kill("SIGINT");
    const { code, log } = await ended;
    expect(code).toBe(1);
    expect(log).toContain("pool is gone");
  });

  it.each([
    ["an uncaught exception", `setTimeout(() => { throw new Error("broken"); }, 10);`],
    ["an unhandled rejection", `setTimeout(() => { Promise.reject(new Error("broken")); }, 10);`],
  ])("logs %s as fatal and exits with 1 without stop", async (_name, fault) => {
    const { ended } = await start(
      `onShutdown({ logger, deadlineMs: 5000, stop: async () => logger.info({}, "drained") }); ${fault}`,
    );
    const { code, log } = await ended;
    expect(code).toBe(1);
    expect(log).toContain(`"level":"fatal"`);
    expect(log).toContain("broken");
    expect(log).not.toContain("drained");
  });
});
