/** What is served, and to whom: reading requests from this machine, addressed to this machine. */
import { Fault, type Logger } from "@nightwriter/core";
import { type Database, sqlFault } from "@nightwriter/database";
import type { Queues } from "@nightwriter/queue";
import { type FastifyInstance, fastify } from "fastify";
import type { Board } from "./board.ts";
import { isLoopback } from "./loopback.ts";

export interface ServerOptions {
  readonly board: Board;
  readonly database: Database;
  readonly queues: Queues;
  readonly logger: Logger;
}

/** A server that does not listen yet. `/healthz` says whether database and queue can be used; everything else is the board. */
export async function createServer(options: ServerOptions): Promise<FastifyInstance> {
  const server = fastify({ forceCloseConnections: true });
  server.addHook("onRequest", async (request, reply) => {
    // A page of another site can make a browser ask us under that site's name (DNS rebinding): the name gives it away.
    if (!isLoopback(request.hostname)) await reply.code(403).send({ error: "only for this machine" });
    else if (request.method !== "GET" && request.method !== "HEAD") await reply.code(405).send({ error: "read-only" });
  });
  server.addHook("onError", async (request, _reply, error) => {
    options.logger.error({ err: error, method: request.method, path: request.url }, "request failed");
  });
  server.get("/healthz", async (_request, reply) => {
    const health = await healthOf(options);
    return reply.code(Object.values(health).every((state) => state === "ok") ? 200 : 503).send(health);
  });
  await server.register(options.board.plugin);
  return server;
}

/** `ok`, or the code of the fault. */
type Health = { readonly database: string; readonly queue: string };

async function healthOf({ database, queues }: ServerOptions): Promise<Health> {
  const [databaseState, queueState] = await Promise.all([
    stateOf(() => askDatabase(database)),
    // Not whether it answers: one that is full or has become a replica does, and takes nothing.
    stateOf(() => queues.claimSlot.read()),
  ]);
  return { database: databaseState, queue: queueState };
}

async function askDatabase({ db }: Database): Promise<void> {
  const asked = db.selectFrom("nightwriter.job").select("id").limit(1).execute();
  await asked.catch((error: unknown) => Promise.reject(sqlFault(error)));
}

async function stateOf(ask: () => Promise<unknown>): Promise<string> {
  try {
    await ask();
    return "ok";
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}
