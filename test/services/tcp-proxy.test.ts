import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { startRedis, startTcpProxy, type TcpProxy } from "@nightwriter/services";
import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";

/** A server that keeps its connections and all that it was told, in its order. */
interface Listener extends AsyncDisposable {
  readonly port: number;
  readonly sockets: readonly Socket[];
  readonly heard: () => string;
}

async function startListener(answer: (socket: Socket, said: string) => void = () => undefined): Promise<Listener> {
  const sockets: Socket[] = [];
  let heard = "";
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.setEncoding("utf8").on("error", () => undefined);
    socket.on("data", (said: string) => {
      heard += said;
      answer(socket, said);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    heard: () => heard,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), "close");
    },
  };
}

async function connectTo({ port }: TcpProxy): Promise<Socket> {
  const client = connect(port, "127.0.0.1").on("error", () => undefined);
  await once(client, "connect");
  return client;
}

/** Lets pass all that the proxy could have sent on: a connection past it, made and answered after that. */
async function roundTrip(listener: Listener): Promise<void> {
  const before = listener.sockets.length;
  const client = connect(listener.port, "127.0.0.1");
  await expect.poll(() => listener.sockets.length, { interval: 5 }).toBe(before + 1);
  client.destroy();
  await once(client, "close");
}

const echo = (socket: Socket, said: string): void => {
  socket.write(said.toUpperCase());
};

describe("startTcpProxy", () => {
  test("leads to the server by a URL that differs in host and port alone", async () => {
    await using redis = await startRedis();
    await using proxy = await startTcpProxy({ port: redis.port });
    const url = proxy.urlFor(redis.url);
    expect(url).toBe(redis.url.replace(String(redis.port), String(proxy.port)));
    expect(proxy.urlFor("postgres://u:p%40@db.example/n?sslmode=disable")).toBe(
      `postgres://u:p%40@127.0.0.1:${proxy.port}/n?sslmode=disable`,
    );
    const client = new Redis(url);
    expect(await client.set("key", "by the proxy")).toBe("OK");
    client.disconnect();
    await expect.poll(() => proxy.counts()).toMatchObject({ accepted: 1, open: 0 });
    expect(proxy.counts().bytesToServer).toBeGreaterThan(0);
    expect(proxy.counts().bytesToClients).toBeGreaterThan(0);
  });

  test("is silent in both directions while it holds, then goes on in order", async () => {
    await using listener = await startListener(echo);
    await using proxy = await startTcpProxy({ port: listener.port });
    const client = await connectTo(proxy);
    client.write("a");
    expect(String((await once(client, "data"))[0])).toBe("A");

    proxy.hold();
    client.write("b");
    client.write("c");
    listener.sockets[0]?.write("unasked ");
    await roundTrip(listener);
    expect(listener.heard()).toBe("a");
    expect(client.readableLength).toBe(0);
    expect(proxy.counts()).toEqual({ accepted: 1, open: 1, bytesToServer: 1, bytesToClients: 1 });

    proxy.resume();
    client.end("d");
    expect(await text(client)).toBe("unasked BCD");
    expect(listener.heard()).toBe("abcd");
  });

  test("accepts a connection while it holds, and makes it to the server when it goes on", async () => {
    await using listener = await startListener(echo);
    await using proxy = await startTcpProxy({ port: listener.port });
    proxy.hold();
    const client = await connectTo(proxy);
    client.write("late");
    await expect.poll(() => proxy.counts().accepted).toBe(1);
    expect(listener.sockets).toHaveLength(0);
    proxy.resume();
    expect(String((await once(client, "data"))[0])).toBe("LATE");
    client.destroy();
  });

  test("tells nobody that the other end left before it goes on", async () => {
    await using listener = await startListener();
    await using proxy = await startTcpProxy({ port: listener.port });
    const client = await connectTo(proxy);
    await expect.poll(() => listener.sockets).toHaveLength(1);
    proxy.hold();
    listener.sockets[0]?.destroy();
    await roundTrip(listener);
    expect(client.readableEnded).toBe(false);
    proxy.resume();
    expect(await text(client)).toBe("");
  });

  test("delivers what a client said before it left, however late", async () => {
    await using listener = await startListener();
    await using proxy = await startTcpProxy({ port: listener.port });
    const client = await connectTo(proxy);
    proxy.hold();
    client.end("the last word");
    await once(client, "finish");
    client.destroy();
    proxy.resume();
    await expect.poll(() => listener.heard()).toBe("the last word");
  });

  test("carries more than its buffers hold, held in the middle of it, byte for byte", async () => {
    await using listener = await startListener(echo);
    await using proxy = await startTcpProxy({ port: listener.port });
    const client = await connectTo(proxy);
    const said = Array.from({ length: 400_000 }, (_, index) => `${index},`).join("");
    client.end(said);
    await expect.poll(() => proxy.counts().bytesToServer, { interval: 1 }).toBeGreaterThan(0);
    proxy.hold();
    const before = proxy.counts();
    await roundTrip(listener);
    expect(proxy.counts()).toEqual(before);
    expect(before.bytesToServer).toBeLessThan(said.length);
    proxy.resume();
    expect((await text(client)) === said).toBe(true);
  });

  test("destroys connections while it is cut, and lets new ones pass afterwards", async () => {
    await using listener = await startListener(echo);
    await using proxy = await startTcpProxy({ port: listener.port });
    const client = await connectTo(proxy);
    await expect.poll(() => listener.sockets).toHaveLength(1);
    proxy.cut();
    await once(client, "close");
    const refused = connect(proxy.port, "127.0.0.1").on("error", () => undefined);
    await once(refused, "close");
    expect(proxy.counts()).toMatchObject({ accepted: 2, open: 0 });
    expect(listener.sockets).toHaveLength(1);
    proxy.resume();
    const again = await connectTo(proxy);
    again.end("again");
    expect(await text(again)).toBe("AGAIN");
  });

  test("closes all connections with itself, held ones too, and can be ended twice", async () => {
    await using listener = await startListener();
    const proxy = await startTcpProxy({ port: listener.port });
    const client = await connectTo(proxy);
    proxy.hold();
    await proxy[Symbol.asyncDispose]();
    await proxy[Symbol.asyncDispose]();
    await once(client.resume(), "close");
    await expect.poll(() => proxy.counts().open).toBe(0);
    await expect(connectTo(proxy)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });
});
