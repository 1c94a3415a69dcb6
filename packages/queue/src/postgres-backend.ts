/**
 * BullMQ's PostgreSQL backend over connections that a whole process shares.
 *
 * As BullMQ makes it, every Queue and every Worker owns a pool (ten connections) and every Worker a client that listens: a
 * worker process with 16 partitions could hold 16 × 11 + 16 × 10 connections. Its classes take a connection as an
 * argument, though, and all queues share one channel whose notifications name the queue. So one pool and one listening
 * client are enough for all partitions. What is lost: BullMQ finds workers by the name of their listening client
 * (`getWorkers`), and one client has one name.
 */
import { EventEmitter } from "node:events";
import {
  PostgresConnection,
  type PostgresConnectionOptions,
  type PostgresPoolConfig,
  PostgresQueueBackend,
  type QueueBaseOptions,
} from "bullmq";
import type { LockWatch } from "./lock-watch.ts";

type PgListenClient = Awaited<ReturnType<PostgresConnection["getListenClient"]>>;

/** A pool and one listening client for every backend of a process. */
export class SharedPostgresConnection extends PostgresConnection {
  readonly #inTurn = new WeakSet<PgListenClient>();
  readonly #lockWatch: LockWatch | undefined;

  constructor(config: PostgresPoolConfig, lockWatch: LockWatch | undefined, onError: (error: Error) => void) {
    super(config);
    this.#lockWatch = lockWatch;
    // Each backend adds listeners; how many there are says nothing about a leak.
    this.setMaxListeners(0);
    this.on("error", onError);
    // The pool's own listener covers idle clients only: without this one, a backend that is terminated under a checked-out
    // client would end the process.
    this.pool.on("connect", (client) => {
      client.on("error", onError);
      lockWatch?.over(client);
    });
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#lockWatch?.end();
  }

  override async getListenClient(): Promise<PgListenClient> {
    const client = await super.getListenClient();
    if (client instanceof EventEmitter) client.setMaxListeners(0);
    if (!this.#inTurn.has(client)) {
      this.#inTurn.add(client);
      takeTurns(client);
    }
    return client;
  }
}

/** All backends say LISTEN on the one client; a client takes one statement at a time, and pg 9 will no longer queue them. */
function takeTurns(client: PgListenClient): void {
  const query = client.query.bind(client);
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = async (...statement: Parameters<PgListenClient["query"]>): ReturnType<PgListenClient["query"]> => {
    const turn = last.then(() => query(...statement));
    last = turn.catch(() => undefined);
    return turn;
  };
  Object.assign(client, { query: inTurn });
}

/** The backend of one Queue or Worker on a shared connection: closing it ends its own wait and nothing else. */
export class SharedPostgresBackend extends PostgresQueueBackend {
  readonly #onError = (error: Error): void => void this.emit("error", error);
  /** The listening client was lost: end the wait that is parked on it; the next one listens on a new client. */
  readonly #onListenerLost = (): void => {
    if (this.closing !== undefined) return;
    void this.disconnectBlocking();
    void this.reconnectBlocking();
  };

  constructor(connection: PostgresConnection, queue: string, options: QueueBaseOptions<PostgresConnectionOptions>) {
    super(connection, queue, options, false);
    connection.on("error", this.#onError);
    connection.on("listenerinvalidated", this.#onListenerLost);
  }

  override async close(): Promise<void> {
    this.connection.off("error", this.#onError);
    this.connection.off("listenerinvalidated", this.#onListenerLost);
    this.closing ??= this.disconnectBlocking();
    return this.closing;
  }

  override async disconnect(): Promise<void> {
    return this.close();
  }
}
