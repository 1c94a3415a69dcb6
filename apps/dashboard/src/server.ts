/** What is served, and to whom: reading requests from this machine, addressed to this machine. */
import { type Logger, toJson } from "@nightwriter/core";
import { type FastifyInstance, fastify } from "fastify";
import type { Board } from "./board.ts";
import { type HealthOptions, healthOf, isHealthy } from "./health.ts";
import { isLoopback } from "./loopback.ts";

export interface ServerOptions extends HealthOptions {
  readonly board: Board;
  readonly logger: Logger;
}

/** A server that does not listen yet. `/livez` says that this process is there, `/healthz` how the installation is; everything else is the board. */
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
  // For whoever restarts this process: nothing that a restart would not mend stands against it.
  server.get("/livez", async (_request, reply) => reply.send({ dashboard: "ok" }));
  server.get("/healthz", async (_request, reply) => {
    const health = await healthOf(options);
    return reply
      .code(isHealthy(health) ? 200 : 503)
      .type("application/json")
      .send(toJson(health));
  });
  await server.register(options.board.plugin);
  return server;
}
