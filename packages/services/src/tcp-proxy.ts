/**
 * A way to a server that can go silent, as a network does that drops packets: connections are accepted, nobody is told
 * that anything is wrong, and nothing arrives.
 *
 * States
 *   pass   what either side says goes to the other
 *   held   nothing is read from either side any more, not even that it has closed. What it says waits in buffers, up
 *          to their size. A connection that comes now is accepted, and not yet made to the server.
 *   cut    connections are destroyed, those that are there and those that come
 *
 * Invariants
 *   1. Bytes arrive in their order, none twice and none left out, whatever the states in between, unless the connection
 *      was cut or one of its ends destroyed it.
 *   2. While held, neither side learns from the proxy what happened to the other.
 */

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { HOST } from "./server-launch.ts";

/** Where the server is that a proxy leads to. */
export interface TcpProxyOptions {
  readonly port: number;
  /** Default: this machine's loopback address. */
  readonly host?: string;
}

/** What has gone through a proxy since it was started. */
export interface TcpProxyCounts {
  /** Connections that were accepted. */
  readonly accepted: number;
  /** Those of them that are there now. */
  readonly open: number;
  readonly bytesToServer: number;
  readonly bytesToClients: number;
}

/** A running proxy, which lets everything pass at first. Disposal destroys all its connections and ends it. */
export interface TcpProxy extends AsyncDisposable {
  /** Where it listens, on loopback. */
  readonly port: number;
  /** The same URL by way of the proxy: its host and port are replaced, all else stays. */
  readonly urlFor: (url: string) => string;
  /** Silence on every connection, those that are there and those that come, until `resume`. */
  readonly hold: () => void;
  /** From now on everything passes again. What was held goes on, in its order. */
  readonly resume: () => void;
  /** Destroys every connection, those that are there and those that come, until `resume`. */
  readonly cut: () => void;
  readonly counts: () => TcpProxyCounts;
}

type State = "pass" | "held" | "cut";

/** Both halves of one connection, and what is to happen to them when the proxy's state changes. */
interface Link {
  readonly enter: (state: State) => void;
}

/**
 * Starts a proxy on a free loopback port in front of a server, in this process. It never looks at what passes, so a server
 * that refers its clients elsewhere (Sentinel, Cluster) leads them past it.
 *
 * @example
 * await using proxy = await startTcpProxy({ port: redis.port });
 * const url = proxy.urlFor(redis.url);
 * proxy.hold();
 */
export async function startTcpProxy({ port, host = HOST }: TcpProxyOptions): Promise<TcpProxy> {
  const links = new Set<Link>();
  const counts = { accepted: 0, bytesToServer: 0, bytesToClients: 0 };
  let state: State = "pass";
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    counts.accepted += 1;
    const link = openLink(client, {
      connectToServer: () => connect({ port, host, allowHalfOpen: true }),
      toServer: (bytes) => {
        counts.bytesToServer += bytes;
      },
      toClient: (bytes) => {
        counts.bytesToClients += bytes;
      },
      closed: () => links.delete(link),
    });
    links.add(link);
    link.enter(state);
  });
  const listening = await listen(server);
  const enter = (next: State): void => {
    state = next;
    for (const link of links) link.enter(next);
  };
  return {
    port: listening,
    urlFor: (url) => {
      const proxied = new URL(url);
      proxied.hostname = HOST;
      proxied.port = String(listening);
      return proxied.href;
    },
    hold: () => enter("held"),
    resume: () => enter("pass"),
    cut: () => enter("cut"),
    counts: () => ({ ...counts, open: links.size }),
    [Symbol.asyncDispose]: async () => {
      if (!server.listening) return;
      const closed = once(server.close(), "close");
      enter("cut");
      await closed;
    },
  };
}

interface LinkOptions {
  readonly connectToServer: () => Socket;
  readonly toServer: (bytes: number) => void;
  readonly toClient: (bytes: number) => void;
  /** Called when neither half is there any more. */
  readonly closed: () => void;
}

function openLink(client: Socket, { connectToServer, toServer, toClient, closed }: LinkOptions): Link {
  let state: State = "held";
  let upstream: Socket | undefined;
  /** What is to be done about ends that came while nobody may hear of them: a socket tells of its end even when it is paused. */
  let overdue: (() => void)[] = [];

  function destroy(): void {
    client.destroy();
    upstream?.destroy();
  }
  function unlessHeld(act: () => void): void {
    if (state === "held") overdue.push(act);
    else act();
  }
  function watch(socket: Socket): void {
    socket.on("error", () => unlessHeld(destroy));
    socket.on("close", () => {
      if (client.destroyed && (upstream?.destroyed ?? true)) closed();
    });
  }
  function pass(from: Socket, to: Socket, count: (bytes: number) => void): void {
    from.on("data", (data: Buffer) => {
      count(data.length);
      if (!to.write(data)) from.pause();
    });
    to.on("drain", () => {
      if (state === "pass") from.resume();
    });
    from.on("end", () => unlessHeld(() => to.end()));
  }
  function connectUpstream(): Socket {
    const made = connectToServer();
    watch(made);
    pass(client, made, toServer);
    pass(made, client, toClient);
    return made;
  }
  function goOn(): void {
    if (!client.destroyed) upstream ??= connectUpstream();
    client.resume();
    upstream?.resume();
    for (const act of overdue) act();
    overdue = [];
  }

  watch(client);
  return {
    enter: (next) => {
      state = next;
      if (next === "cut") return destroy();
      if (next === "pass") return goOn();
      client.pause();
      upstream?.pause();
    },
  };
}

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, HOST), "listening");
  return (server.address() as AddressInfo).port;
}
