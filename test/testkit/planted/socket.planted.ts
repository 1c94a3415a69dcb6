import { once } from "node:events";
import { connect, createServer } from "node:net";
import { expect, test } from "vitest";

test("leaves a connection open", async () => {
  const server = createServer().listen(0, "127.0.0.1").unref();
  await once(server, "listening");
  const address = server.address();
  const socket = connect(typeof address === "object" && address !== null ? address.port : 0, "127.0.0.1");
  await once(socket, "connect");
  expect(socket.readyState).toBe("open");
});
