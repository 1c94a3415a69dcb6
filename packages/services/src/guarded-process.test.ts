import { describe, expect, test } from "vitest";
import { startGuarded } from "./guarded-process.ts";

const sh = (script: string) => ({ file: "/bin/sh", args: ["-c", script] });

describe("startGuarded", () => {
  test("hands over what the program prints, from where, and how it ended", async () => {
    const lines: string[] = [];
    await using child = await startGuarded({
      ...sh("cat; echo trouble >&2; exit 3"),
      input: "one\ntwo\n",
      log: (line, from) => lines.push(`${from}: ${line}`),
    });
    expect(await child.exited).toEqual({ code: 3, signal: null });
    await child.closed;
    expect(lines.toSorted()).toEqual(["stderr: trouble", "stdout: one", "stdout: two"]);
    expect(child.tail()).toHaveLength(3);
    expect(child.exit()).toEqual({ code: 3, signal: null });
  });

  test("writes to a program whose input was kept open", async () => {
    const lines: string[] = [];
    const three = Promise.withResolvers<void>();
    await using child = await startGuarded({
      ...sh('while read -r line; do echo "got $line"; done'),
      input: "one\n",
      keepInput: true,
      log: (line) => {
        if (lines.push(line) === 3) three.resolve();
      },
    });
    child.write("two\nthree\n");
    await three.promise;
    expect(lines).toEqual(["got one", "got two", "got three"]);
    await child.end(["SIGTERM", "SIGKILL"]);
    child.write("four\n");
  });

  test("gives the program's own pid", async () => {
    await using child = await startGuarded(sh("echo $$"));
    await child.closed;
    expect(child.tail()).toEqual([String(child.pid)]);
  });

  test("adds to our environment, or replaces it", async () => {
    const print = "/usr/bin/env";
    await using added = await startGuarded({ file: print, environment: { EXTRA: "1" } });
    await using only = await startGuarded({ file: print, environment: { EXTRA: "1" }, onlyEnvironment: true });
    await Promise.all([added.closed, only.closed]);
    expect(added.tail()).toEqual(expect.arrayContaining(["EXTRA=1", expect.stringMatching(/^PATH=/)]));
    expect(only.tail().filter((line) => !line.startsWith("PWD="))).toEqual(["EXTRA=1"]);
  });

  test("ends a program that ignores the first signal by the next", async () => {
    const ready = Promise.withResolvers<void>();
    const stubborn = "trap '' TERM; echo ready; while :; do sleep 0.1; done";
    await using child = await startGuarded({ ...sh(stubborn), log: () => ready.resolve() });
    await ready.promise;
    await child.end(["SIGTERM", "SIGKILL"], 200);
    expect(child.exit()).toEqual({ code: null, signal: "SIGKILL" });
  });

  test("ends a program that is stopped", async () => {
    await using child = await startGuarded(sh("exec sleep 60"));
    child.signal("SIGSTOP");
    await child.end(["SIGTERM"]);
    expect(child.exit()).toEqual({ code: null, signal: "SIGTERM" });
  });

  test("lets a missing program exit with 127", async () => {
    await using child = await startGuarded({ file: "/nowhere/program" });
    expect(await child.exited).toEqual({ code: 127, signal: null });
  });
});
