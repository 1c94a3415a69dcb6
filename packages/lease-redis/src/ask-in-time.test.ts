import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { inTime } from "./ask-in-time.ts";

describe("inTime", () => {
  it("settles as the work does", async () => {
    expect(await inTime(60_000, Promise.resolve("done"))).toBe("done");
    await expect(inTime(60_000, Promise.reject(new Error("wrong")))).rejects.toThrow("wrong");
  });

  it("throws when the time is over, and says so first", async () => {
    const onLate = vi.fn<() => void>();
    await expect(inTime(20, new Promise(() => {}), onLate)).rejects.toThrow("no answer within 20 ms");
    expect(onLate).toHaveBeenCalledTimes(1);
  });

  it("takes an answer that came while this process was held up", async () => {
    const server = createServer((socket) => socket.on("error", () => undefined).end("pong"));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1").setEncoding("utf8");
    try {
      await once(server, "connection");
      const answered = once(socket, "data").then(([text]: unknown[]) => text);
      const answer = inTime(50, answered);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      expect(await answer).toBe("pong");
    } finally {
      socket.destroy();
      await once(server.close(), "close");
    }
  });
});
