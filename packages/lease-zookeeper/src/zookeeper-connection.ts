/**
 * One TCP connection to one ZooKeeper server, with the session that lives on it.
 *
 * It answers requests in the order in which they were sent. It never pings: a session lives as long as its owner asks
 * for something, so that one who does not renew loses his leases although his process and his connection are fine.
 */
import { connect, type Socket } from "node:net";
import { LeaseFault, type ServerAddress } from "@nightwriter/lease";
import { type JuteField, JuteReader, juteFrame, splitFrames } from "./jute.ts";

/** Of ZooKeeper's protocol. */
const OP_AUTH = 100;
const XID_AUTH = -4;
const NO_PASSWORD = Buffer.alloc(16);

/** What it takes to come back to a session over another connection. */
export interface SessionKey {
  readonly id: bigint;
  readonly password: Buffer;
  /** The newest transaction that it has seen: a server that is behind it does not take it. */
  readonly seenZxid: bigint;
}

export interface ConnectionOptions {
  readonly host: ServerAddress;
  /** The session to come back to; undefined: a new one. */
  readonly session: SessionKey | undefined;
  /** The length of a session that is asked for. */
  readonly sessionMs: number;
  readonly digest: string | undefined;
  readonly patienceMs: number;
}

/** What a server said to a request: ZooKeeper's error code, 0 for none, and what follows it. */
export interface ZookeeperReply {
  readonly code: number;
  readonly body: JuteReader;
}

export interface ZookeeperConnection {
  readonly sessionId: bigint;
  /** The length of the session that the server has granted. */
  readonly sessionMs: number;
  /** Rejects with an Error when the connection ends before the answer. */
  request(op: number, fields: readonly JuteField[]): Promise<ZookeeperReply>;
  /** To come back to this session later. */
  key(): SessionKey;
  /** Ends the connection and every request on it; the session goes on until its time is over. */
  end(why: string): void;
  /** Whether it has ended, by us or by the server. */
  isOver(): boolean;
}

/**
 * Connects, and takes up the session or begins one. Undefined: the session to come back to has expired. Rejects with an
 * Error where that takes too long or the server ends the connection, as it does when it is behind the session.
 */
export async function connectZookeeper(options: ConnectionOptions): Promise<ZookeeperConnection | undefined> {
  const { host, session, sessionMs, digest, patienceMs } = options;
  const wire = openWire(connect(host));
  const late = setTimeout(() => wire.end(`no session within ${Math.ceil(patienceMs)} ms`), patienceMs);
  try {
    const greeting = [
      { int: 0 },
      { long: session?.seenZxid ?? 0n },
      { int: sessionMs },
      { long: session?.id ?? 0n },
      { buffer: session?.password ?? NO_PASSWORD },
      { boolean: false },
    ];
    const answer = await wire.exchange(juteFrame(greeting));
    answer.int();
    const grantedMs = answer.int();
    const id = answer.long();
    const password = Buffer.from(answer.buffer());
    if (grantedMs <= 0) {
      wire.end("the session has expired");
      return undefined;
    }
    const connection = converse(wire, { id, password, sessionMs: grantedMs, seenZxid: session?.seenZxid ?? 0n });
    if (digest !== undefined) await authenticate(wire, digest, `${host.host}:${host.port}`);
    return connection;
  } catch (error) {
    wire.end("not connected");
    throw error;
  } finally {
    clearTimeout(late);
  }
}

async function authenticate(wire: Wire, digest: string, server: string): Promise<void> {
  const packet = [{ int: 0 }, { string: "digest" }, { buffer: Buffer.from(digest) }];
  const answer = await wire.exchange(juteFrame([{ int: XID_AUTH }, { int: OP_AUTH }, ...packet]));
  answer.int();
  answer.long();
  if (answer.int() === 0) return;
  const message = `leases in zookeeper at ${server}: takes no digest authentication; take user and password out of LEASE_URL`;
  throw new LeaseFault("lease_store_unfit", message, { details: { server } });
}

interface Begun {
  readonly id: bigint;
  readonly password: Buffer;
  readonly sessionMs: number;
  seenZxid: bigint;
}

function converse(wire: Wire, begun: Begun): ZookeeperConnection {
  const { id, password, sessionMs } = begun;
  let xid = 0;
  return {
    sessionId: id,
    sessionMs,
    request: async (op, fields) => {
      xid = (xid + 1) & 0x7fffffff;
      const sent = xid;
      const body = await wire.exchange(juteFrame([{ int: sent }, { int: op }, ...fields]));
      if (body.int() !== sent) {
        wire.end("answers are out of order");
        throw new Error("an answer to another request");
      }
      const zxid = body.long();
      if (zxid > begun.seenZxid) begun.seenZxid = zxid;
      return { code: body.int(), body };
    },
    key: () => ({ id, password, seenZxid: begun.seenZxid }),
    end: (why) => wire.end(why),
    isOver: () => wire.isOver(),
  };
}

/** Frames out, frames in, in the same order. */
interface Wire {
  exchange(frame: Buffer): Promise<JuteReader>;
  end(why: string): void;
  isOver(): boolean;
}

function openWire(socket: Socket): Wire {
  const waiting: PromiseWithResolvers<JuteReader>[] = [];
  let received: Buffer = Buffer.alloc(0);
  let over: Error | undefined;
  const end = (why: string): void => {
    over ??= new Error(why);
    socket.destroy();
    for (const { reject } of waiting.splice(0)) reject(over);
  };
  socket.setNoDelay();
  socket.on("data", (chunk: Buffer) => {
    try {
      const { frames, rest } = splitFrames(Buffer.concat([received, chunk]));
      received = rest;
      for (const frame of frames) waiting.shift()?.resolve(new JuteReader(frame));
    } catch (error) {
      end(error instanceof Error ? error.message : "not ZooKeeper's protocol");
    }
  });
  socket.on("error", (error) => end(error.message));
  socket.on("close", () => end("the server ended the connection"));
  return {
    end,
    isOver: () => over !== undefined,
    exchange: async (frame) => {
      if (over !== undefined) throw over;
      const answer = Promise.withResolvers<JuteReader>();
      waiting.push(answer);
      socket.write(frame);
      return answer.promise;
    },
  };
}
