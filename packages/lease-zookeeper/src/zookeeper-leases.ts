/**
 * Leases in ZooKeeper: an ephemeral node each, all of one session, which is the process's.
 *
 * ZooKeeper ends all of them together, when nothing was asked on the session for its whole length. One that is not renewed
 * while others are would live on with them, so the store itself ends it when its time is over. Either way nobody has to be
 * trusted: a process that could still end a lease but not renew it is alive, and one that is not loses its session.
 *
 * A node is this holding only if its content is the claim and its session is ours. One that an earlier session of this
 * process has left behind is somebody else's, although it may bear our name.
 */
import { type Logger, silentLogger } from "@nightwriter/core";
import type { LeaseClaim, LeaseGrant, LeaseSight, LeaseStore } from "@nightwriter/lease";
import { type EndingLeases, endingLeases } from "./ending-leases.ts";
import type { ZookeeperConnection } from "./zookeeper-connection.ts";
import { type ZookeeperNode, type ZookeeperNodes, zookeeperNodes } from "./zookeeper-nodes.ts";
import { ZookeeperSession } from "./zookeeper-session.ts";
import { parseZookeeperUrl, type ZookeeperUrl } from "./zookeeper-url.ts";

/** A little less than the third that a call may take, so that it has failed by then. */
const ANSWER_SHARE = 0.3;

export interface ZookeeperLeasesOptions {
  /** `zookeeper://[user:password@]host[:port][,host[:port]…][/path]`: the servers of one ensemble, tried in turn. Default port: 2181. */
  readonly url: string;
  /** Keeps installations apart that share the ensemble: nodes are `/path/PREFIX/lease/NAME`, and `/path/PREFIX/claim`. */
  readonly prefix: string;
  /** The length of a lease, in milliseconds: a session's length, which the server must grant, 4 to 40 s by default. */
  readonly ttlMs: number;
  /** Not shown anywhere: ZooKeeper knows its clients by address and session. */
  readonly applicationName: string;
  readonly logger?: Logger;
}

/**
 * Opens the store once a server has granted a session, for which it may take the length of a lease. Throws LeaseFault: `lease_url_invalid`, `lease_store_away`,
 * `lease_store_unfit` (sessions that would end before the lease, a path that is not ours to write).
 */
export async function openZookeeperLeases(options: ZookeeperLeasesOptions): Promise<LeaseStore> {
  const store = new ZookeeperLeases(options, parseZookeeperUrl(options.url));
  try {
    await store.reach();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

class ZookeeperLeases implements LeaseStore {
  readonly kind = "zookeeper";
  readonly label: string;
  readonly ttlMs: number;
  readonly claimSlot: LeaseStore["claimSlot"];
  readonly #folder: string;
  readonly #claimPath: string;
  readonly #session: ZookeeperSession;
  readonly #nodes: ZookeeperNodes;
  readonly #ending: EndingLeases;

  constructor({ ttlMs, prefix, logger = silentLogger }: ZookeeperLeasesOptions, url: ZookeeperUrl) {
    this.label = `zookeeper at ${url.label}`;
    this.ttlMs = ttlMs;
    this.#folder = `${url.chroot}/${prefix}/lease`;
    this.#claimPath = `${url.chroot}/${prefix}/claim`;
    this.claimSlot = {
      label: `leases in ${this.label}`,
      read: async () => this.#session.run(this.#until(), async (on) => (await this.#readClaim(on))?.data),
      replace: async (before, text) => this.#replaceClaim(before, text),
    };
    this.#session = new ZookeeperSession({ url, ttlMs, logger });
    this.#nodes = zookeeperNodes({ label: url.label, isPrivate: url.digest !== undefined });
    const answerMs = ttlMs * ANSWER_SHARE;
    this.#ending = endingLeases({
      ttlMs,
      answerMs,
      end: (claims, mayEnd) => this.#end({ claims, until: this.#until(), mayEnd }),
      logger,
    });
  }

  /** Begins the session. A server that has just started takes longer for the first than for any other. */
  async reach(): Promise<void> {
    await this.#session.run(performance.now() + this.ttlMs, async (on) => this.#read(on, [{ name: "any" }]));
  }

  async acquire(claim: LeaseClaim): Promise<LeaseGrant | undefined> {
    // Before it is asked for: a node that is made although its answer is lost must have an end as well.
    this.#ending.expect(claim);
    const czxid = await this.#session.run(this.#until(), async (on) => {
      const created = await this.#nodes.create(on, this.#pathOf(claim), contentOf(claim));
      if (created !== undefined) return created;
      const [node] = await this.#read(on, [claim]);
      return isHolding(claim, node, on) ? node.czxid : undefined;
    });
    if (czxid === undefined) this.#ending.forget([claim]);
    else this.#ending.extend([claim]);
    return czxid === undefined ? undefined : { storeToken: czxid };
  }

  async renew(claims: readonly LeaseClaim[]): Promise<ReadonlySet<string>> {
    if (claims.length === 0) return new Set();
    const renewed = await this.#session.run(this.#until(), async (on) => {
      const there = await this.#read(on, claims);
      return claims.filter((claim, at) => isHolding(claim, there[at], on) && this.#ending.isLive(claim));
    });
    this.#ending.extend(renewed);
    return new Set(renewed.map(({ name }) => name));
  }

  async release(claims: readonly LeaseClaim[]): Promise<void> {
    if (claims.length === 0) return;
    const until = this.#until();
    await this.#ending.inTurn(() => this.#end({ claims, until, mayEnd: () => true }));
    this.#ending.forget(claims);
  }

  async find(names: readonly string[]): Promise<ReadonlyMap<string, LeaseSight>> {
    if (names.length === 0) return new Map();
    const paths = names.map((name) => this.#pathOf({ name }));
    const there = await this.#session.run(this.#until(), async (on) => this.#nodes.look(on, paths));
    const sights = names.flatMap((name, at): [string, LeaseSight][] => {
      const node = there[at];
      return node === undefined ? [] : [[name, { ...holderOf(node.data), leftMs: undefined }]];
    });
    return new Map(sights);
  }

  async close(): Promise<void> {
    this.#ending.stop();
    this.#session.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Deletes the nodes that are the claims' holdings. */
  async #end({ claims, until, mayEnd }: Ending): Promise<void> {
    await this.#session.run(until, async (on) => {
      const there = await this.#read(on, claims);
      const removals = claims.map(async (claim, at) => {
        const node = there[at];
        if (isHolding(claim, node, on) && mayEnd(claim))
          await this.#nodes.remove(on, this.#pathOf(claim), node.version);
      });
      await Promise.all(removals);
    });
  }

  async #read(on: ZookeeperConnection, leases: readonly Named[]): Promise<(ZookeeperNode | undefined)[]> {
    const paths = leases.map((lease) => this.#pathOf(lease));
    return this.#nodes.read(on, this.#folder, paths);
  }

  async #readClaim(on: ZookeeperConnection): Promise<ZookeeperNode | undefined> {
    const [node] = await this.#nodes.read(on, this.#folder, [this.#claimPath]);
    return node;
  }

  async #replaceClaim(before: string | undefined, text: string): Promise<string | undefined> {
    return this.#session.run(this.#until(), async (on) => {
      if (before === undefined) await this.#nodes.createLasting(on, this.#claimPath, text);
      else {
        const there = await this.#readClaim(on);
        if (there?.data === before) {
          await this.#nodes.write(on, this.#claimPath, { data: text, version: there.version });
        }
      }
      return (await this.#readClaim(on))?.data;
    });
  }

  #until(): number {
    return performance.now() + this.ttlMs * ANSWER_SHARE;
  }

  #pathOf({ name }: Named): string {
    return `${this.#folder}/${nodeName(name)}`;
  }
}

type Named = Pick<LeaseClaim, "name">;

interface Ending {
  readonly claims: readonly LeaseClaim[];
  readonly until: number;
  /** Asked when it is about to be done. */
  readonly mayEnd: (claim: LeaseClaim) => boolean;
}

/** A name as one part of a path: what ZooKeeper does not take there is encoded. */
function nodeName(name: string): string {
  return encodeURIComponent(name).replace(/^\.{1,2}$/, (dots) => dots.replaceAll(".", "%2E"));
}

function contentOf({ holder, nonce }: LeaseClaim): string {
  return JSON.stringify({ holder, nonce });
}

function isHolding(claim: LeaseClaim, node: ZookeeperNode | undefined, on: ZookeeperConnection): node is ZookeeperNode {
  return node !== undefined && node.owner === on.sessionId && node.data === contentOf(claim);
}

/** Who made this node. One that somebody else has written is held all the same, by nobody that we know. */
function holderOf(data: string): Pick<LeaseClaim, "holder" | "nonce"> {
  try {
    const content: unknown = JSON.parse(data);
    if (typeof content === "object" && content !== null && "holder" in content && "nonce" in content) {
      const { holder, nonce } = content;
      if (typeof holder === "string" && typeof nonce === "string") return { holder, nonce };
    }
  } catch {
    // Not ours; told as it is.
  }
  return { holder: data, nonce: "" };
}
