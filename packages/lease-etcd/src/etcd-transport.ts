/**
 * POSTs to the servers of one etcd cluster, the one that answered last first.
 *
 * A server that cannot be reached, hangs, or has no leader leaves its turn to the next, all within the time that the
 * caller has. So a request may be carried out twice; whatever is sent here must bear that.
 */
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { LeaseFault, type ServerAddress, type ServerList } from "@nightwriter/lease";

/** One for each request under way: the gateway speaks HTTP/1.1. */
const MAX_SOCKETS = 64;

export interface EtcdQuestion {
  /** Below `/v3/`. */
  readonly path: string;
  readonly body: object;
  /** Until when there must be an answer, by performance.now(). */
  readonly until: number;
  /** Undefined: nobody in particular asks. */
  readonly token: string | undefined;
}

/** What a server said; a body that is not JSON as text. */
export interface EtcdReply {
  readonly status: number;
  readonly body: unknown;
}

export interface EtcdTransport {
  /** Throws LeaseFault `lease_store_away` if no server answered in time. */
  post(question: EtcdQuestion): Promise<EtcdReply>;
  /** Ends all connections. A request under way fails. */
  close(): void;
}

export function openEtcdTransport({ hosts, label }: ServerList, applicationName: string): EtcdTransport {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  let preferred = 0;

  const post = async ({ path, body, until, token }: EtcdQuestion): Promise<EtcdReply> => {
    const headers = { "user-agent": applicationName, ...(token !== undefined && { authorization: token }) };
    const first = preferred;
    let trouble: unknown;
    for (const turn of hosts.keys()) {
      const index = (first + turn) % hosts.length;
      const host = hosts[index];
      const patienceMs = (until - performance.now()) / (hosts.length - turn);
      if (host === undefined || patienceMs < 1) break;
      try {
        const reply = await send({ agent, host, path, headers, body: JSON.stringify(body), patienceMs });
        preferred = index;
        if (reply.status < 500) return reply;
        trouble = new Error(`status ${reply.status}: ${JSON.stringify(reply.body)}`);
      } catch (error) {
        trouble = error;
      }
    }
    const why = trouble instanceof Error ? trouble.message : "no time left";
    const details = { servers: label };
    const message = `leases in etcd at ${label}: ${why}; asked again until it answers`;
    throw new LeaseFault("lease_store_away", message, { details, retryable: true, cause: trouble });
  };

  return { post, close: () => agent.destroy() };
}

interface Post {
  readonly agent: Agent;
  readonly host: ServerAddress;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly patienceMs: number;
}

/** Sends once; and once more over a new connection if one that had been idle turned out to be dead. */
async function send(post: Post): Promise<EtcdReply> {
  const signal = AbortSignal.timeout(Math.ceil(post.patienceMs));
  try {
    return await sendOnce(post, signal);
  } catch (error) {
    if (signal.aborted) throw new Error(`no answer within ${Math.ceil(post.patienceMs)} ms`, { cause: error });
    if (error instanceof DeadConnection) return sendOnce(post, signal);
    throw error;
  }
}

class DeadConnection extends Error {}

async function sendOnce({ agent, host, path, headers, body }: Post, signal: AbortSignal): Promise<EtcdReply> {
  const outgoing = request({ agent, ...host, method: "POST", path: `/v3/${path}`, headers, signal });
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    outgoing.on("response", resolve);
    outgoing.on("error", (cause) =>
      reject(outgoing.reusedSocket ? new DeadConnection(cause.message, { cause }) : cause),
    );
    outgoing.end(body);
  });
  return { status: response.statusCode ?? 0, body: jsonOf(await text(response)) };
}

function jsonOf(said: string): unknown {
  try {
    return JSON.parse(said);
  } catch {
    return said;
  }
}
