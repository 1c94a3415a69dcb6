/** A way to a server that can go silent, as a network does that drops packets: nobody is told, and nothing arrives. */

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Proxy extends AsyncDisposable {
  /** The server's URL, by way of the proxy. */
  readonly url: string;
  /** From now on nothing that the server says on the connections that there are reaches the client. */
  readonly mute: () => void;
}

export async function openProxy(url: string): Promise<Proxy> {
  const target = new URL(url);
  const open = new Set<Socket>();
  const muted = new WeakSet<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    client.pipe(upstream);
    upstream.on("data", (data) => {
      if (!muted.has(client)) client.write(data);
    });
    open.add(client);
    const end = (): void => {
      open.delete(client);
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on("error", end).on("close", end);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const proxied = new URL(url);
  proxied.port = String((server.address() as AddressInfo).port);
  return {
    url: proxied.href,
    mute: () => {
      for (const client of open) muted.add(client);
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of open) client.destroy();
      await once(server.close(), "close");
    },
  };
}
