/**
 * The session of this process: one at a time, over one connection at a time.
 *
 * A connection that ends or is silent is replaced by one to the next server, which takes the session up again if its time
 * is not over; if it is, a new session begins, and nothing of the old one is ours any more. All of it happens when
 * somebody asks, within the time that he has: there is no work in the background.
 */
import type { Logger } from "@nightwriter/core";
import { LeaseFault } from "@nightwriter/lease";
import { connectZookeeper, type SessionKey, type ZookeeperConnection } from "./zookeeper-connection.ts";
import type { ZookeeperUrl } from "./zookeeper-url.ts";

export interface SessionOptions {
  readonly url: ZookeeperUrl;
  /** The shortest session that will do, and the one that is asked for. */
  readonly ttlMs: number;
  readonly logger: Logger;
}

/** Something to do over a connection, perhaps twice. */
type Work<Result> = (connection: ZookeeperConnection) => Promise<Result>;

export class ZookeeperSession {
  readonly #options: SessionOptions;
  #connection: ZookeeperConnection | undefined;
  #connecting: Promise<ZookeeperConnection> | undefined;
  /** The session to come back to. */
  #known: { readonly key: () => SessionKey; readonly sessionMs: number; usedAtMs: number } | undefined;
  /** Which server is asked: the next one after each that failed. */
  #turn = 0;
  #warned = false;
  #closed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /**
   * Does the work over a connection, and again over the next one if that fails meanwhile: the work must bear to be done
   * twice. `until` is a time of performance.now(). Throws LeaseFault `lease_store_away` when it is over, and whatever
   * LeaseFault the work throws.
   */
  async run<Result>(until: number, work: Work<Result>): Promise<Result> {
    const { hosts, label } = this.#options.url;
    let trouble: unknown;
    // Once more than there are servers: a connection that was there may only now turn out to be dead.
    for (let tries = 0; tries <= hosts.length; tries++) {
      const patienceMs = (until - performance.now()) / Math.max(hosts.length - tries, 1);
      if (patienceMs < 1) break;
      try {
        return await this.#attempt(patienceMs, work);
      } catch (error) {
        if (error instanceof LeaseFault) throw error;
        trouble = error;
      }
    }
    const why = trouble instanceof Error ? trouble.message : "no time left";
    const message = `leases in zookeeper at ${label}: ${why}; asked again until it answers`;
    const details = { servers: label };
    throw new LeaseFault("lease_store_away", message, { details, retryable: true, cause: trouble });
  }

  /** Ends the connection, and leaves the session to its time. */
  close(): void {
    this.#closed = true;
    this.#connection?.end("it was closed");
  }

  async #attempt<Result>(patienceMs: number, work: Work<Result>): Promise<Result> {
    let used: ZookeeperConnection | undefined;
    const late = Promise.withResolvers<never>();
    const silence = new Error(`no answer within ${Math.ceil(patienceMs)} ms`);
    const timer = setTimeout(() => late.reject(silence), patienceMs);
    const done = async (): Promise<Result> => {
      used = await this.#connected(patienceMs);
      return work(used);
    };
    try {
      const result = await Promise.race([done(), late.promise]);
      if (this.#known !== undefined) this.#known.usedAtMs = performance.now();
      return result;
    } catch (error) {
      if (used !== undefined && !(error instanceof LeaseFault)) this.#abandon(used);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #connected(patienceMs: number): Promise<ZookeeperConnection> {
    if (this.#connection !== undefined && !this.#connection.isOver()) return this.#connection;
    this.#connecting ??= this.#connect(patienceMs)
      .catch((error: unknown) => {
        this.#turn += 1;
        throw error;
      })
      .finally(() => {
        this.#connecting = undefined;
      });
    return this.#connecting;
  }

  #abandon(failed: ZookeeperConnection): void {
    failed.end("another request on this connection failed");
    // Of several requests that fail with it, one moves on.
    if (failed !== this.#connection) return;
    this.#connection = undefined;
    this.#turn += 1;
  }

  async #connect(patienceMs: number): Promise<ZookeeperConnection> {
    const { url, ttlMs } = this.#options;
    const host = url.hosts[this.#turn % url.hosts.length];
    if (host === undefined || this.#closed) throw new Error("it was closed");
    const open = async (session: SessionKey | undefined): Promise<ZookeeperConnection | undefined> =>
      connectZookeeper({ host, session, sessionMs: ttlMs, digest: url.digest, patienceMs });
    const known = this.#known;
    // A server that was reset has never seen the session, and ends every connection that wants it back: so not for ever.
    const mayLive = known !== undefined && performance.now() - known.usedAtMs < known.sessionMs;
    const opened = (await open(mayLive ? known.key() : undefined)) ?? (await open(undefined));
    if (opened === undefined) throw new Error("no session was granted");
    this.#judge(opened);
    if (this.#closed) opened.end("it was closed");
    this.#known = { key: () => opened.key(), sessionMs: opened.sessionMs, usedAtMs: performance.now() };
    this.#connection = opened;
    return opened;
  }

  /** Refuses sessions that end before the lease does, and says when they go on for longer. */
  #judge(opened: ZookeeperConnection): void {
    const { url, ttlMs, logger } = this.#options;
    const details = { servers: url.label, sessionMs: opened.sessionMs, leaseMs: ttlMs };
    if (opened.sessionMs < ttlMs) {
      opened.end("its sessions are too short");
      const fact = `sessions last ${opened.sessionMs} ms at most, a lease ${ttlMs} ms`;
      const message = `leases in zookeeper at ${url.label}: ${fact}; shorten LEASE_MS, or raise maxSessionTimeout in zoo.cfg`;
      throw new LeaseFault("lease_store_unfit", message, { details });
    }
    if (opened.sessionMs === ttlMs || this.#warned) return;
    this.#warned = true;
    logger.warn(details, "ZooKeeper's sessions last longer than a lease: after a crash, work waits so long");
  }
}
