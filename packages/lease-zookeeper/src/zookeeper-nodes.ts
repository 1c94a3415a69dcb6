/** What is asked of ZooKeeper, about nodes. */
import { dirname } from "node:path/posix";
import { LeaseFault } from "@nightwriter/lease";
import type { JuteField } from "./jute.ts";
import type { ZookeeperConnection, ZookeeperReply } from "./zookeeper-connection.ts";

/** Of ZooKeeper's protocol, since 3.5. */
const OP = { delete: 2, getData: 4, setData: 5, sync: 9, check: 13, multi: 14, create2: 15 } as const;
const CODE = { done: 0, noNode: -101, noAuth: -102, badVersion: -103, nodeExists: -110 } as const;
const FLAG = { persistent: 0, ephemeral: 1 } as const;
const ALL_PERMISSIONS = 31;

/** Codes that waiting does not change: no such operation, no such ACL, authentication failed, not allowed. */
const lasting = new Set<number>([-6, -114, -115, CODE.noAuth]);

export interface ZookeeperNode {
  readonly data: string;
  /** The transaction that made it: larger for each next making of it. */
  readonly czxid: bigint;
  readonly version: number;
  /** The session that it ends with; 0: none. */
  readonly owner: bigint;
}

export interface ZookeeperNodes {
  /** Makes a node that ends with the session, and those above it that do not; its czxid, or undefined if it is there. */
  create(on: ZookeeperConnection, path: string, data: string): Promise<bigint | undefined>;
  /** The same for a node that outlives every session; whether it was made now. */
  createLasting(on: ZookeeperConnection, path: string, data: string): Promise<boolean>;
  /** Writes the node if it has still this version; nothing happens if it is gone. */
  write(on: ZookeeperConnection, path: string, node: Pick<ZookeeperNode, "data" | "version">): Promise<void>;
  /** The nodes as one server knows them after it has asked its leader; undefined where there is none. In one round trip. */
  look(on: ZookeeperConnection, paths: readonly string[]): Promise<(ZookeeperNode | undefined)[]>;
  /**
   * The nodes as a majority has them. A leader that has lost its majority does not know it at once, and goes on answering
   * syncs and reads; so before it reads, this has something decided that changes nothing: the existence of the folder.
   */
  read(on: ZookeeperConnection, folder: string, paths: readonly string[]): Promise<(ZookeeperNode | undefined)[]>;
  /** Deletes the node if it has still this version; nothing happens if it is gone. */
  remove(on: ZookeeperConnection, path: string, version: number): Promise<void>;
}

/** `label` is for faults. Nodes are open to everybody, or with `isPrivate` to the connection's own user alone. */
export function zookeeperNodes({ label, isPrivate }: { label: string; isPrivate: boolean }): ZookeeperNodes {
  const id = isPrivate ? [{ string: "auth" }, { string: "" }] : [{ string: "world" }, { string: "anyone" }];
  const acl: readonly JuteField[] = [{ int: 1 }, { int: ALL_PERMISSIONS }, ...id];

  const expect = expecting(label);

  const createOne = async (on: ZookeeperConnection, fields: readonly JuteField[]): Promise<ZookeeperReply> =>
    expect(await on.request(OP.create2, fields), [CODE.done, CODE.nodeExists, CODE.noNode]);

  const makeWay = async (on: ZookeeperConnection, path: string): Promise<void> => {
    if (path === "/") return;
    const fields = [{ string: path }, { string: "" }, ...acl, { int: FLAG.persistent }];
    if ((await createOne(on, fields)).code !== CODE.noNode) return;
    await makeWay(on, dirname(path));
    await createOne(on, fields);
  };

  const readAll = readingAll(expect);

  /** Makes a node and those above it; the answer, or undefined if it is there. */
  const create = async (
    on: ZookeeperConnection,
    path: string,
    { data, flag }: { readonly data: string; readonly flag: number },
  ): Promise<ZookeeperReply | undefined> => {
    const fields = [{ string: path }, { string: data }, ...acl, { int: flag }];
    let reply = await createOne(on, fields);
    if (reply.code === CODE.noNode) {
      await makeWay(on, dirname(path));
      reply = expect(await on.request(OP.create2, fields), [CODE.done, CODE.nodeExists]);
    }
    return reply.code === CODE.nodeExists ? undefined : reply;
  };

  return {
    create: async (on, path, data) => {
      const reply = await create(on, path, { data, flag: FLAG.ephemeral });
      if (reply === undefined) return undefined;
      reply.body.string();
      return reply.body.long();
    },
    createLasting: async (on, path, data) => (await create(on, path, { data, flag: FLAG.persistent })) !== undefined,
    write: async (on, path, { data, version }) => {
      const reply = await on.request(OP.setData, [{ string: path }, { string: data }, { int: version }]);
      expect(reply, [CODE.done, CODE.noNode, CODE.badVersion]);
    },
    look: async (on, paths) => {
      const synced = on.request(OP.sync, [{ string: "/" }]);
      const [answer, found] = await Promise.all([synced, readAll(on, paths)]);
      expect(answer, [CODE.done]);
      return found;
    },
    read: async (on, folder, paths) => {
      const operation = [{ int: OP.check }, { boolean: false }, { int: -1 }, { string: folder }, { int: -1 }];
      const end = [{ int: -1 }, { boolean: true }, { int: -1 }];
      const decided = on.request(OP.multi, [...operation, ...end]);
      const [answer, found] = await Promise.all([decided, readAll(on, paths)]);
      // That it is not there, or is none of our business, was decided as well.
      expect(answer, [CODE.done, CODE.noNode, CODE.noAuth]);
      return found;
    },
    remove: async (on, path, version) => {
      const reply = await on.request(OP.delete, [{ string: path }, { int: version }]);
      expect(reply, [CODE.done, CODE.noNode, CODE.badVersion]);
    },
  };
}

/** The answer, if its code is one of these. Throws what ends the call or, where it is the connection's, an Error. */
function expecting(label: string): (reply: ZookeeperReply, codes: readonly number[]) => ZookeeperReply {
  return (reply, codes) => {
    if (codes.includes(reply.code)) return reply;
    if (!lasting.has(reply.code)) throw new Error(`it answered with error ${reply.code}`);
    const fact = reply.code === CODE.noAuth ? "not allowed" : `refused with error ${reply.code}`;
    const remedy = "see user and password of LEASE_URL, and the ACLs of its path; needs ZooKeeper 3.5 or newer";
    const details = { servers: label, code: reply.code };
    throw new LeaseFault("lease_store_unfit", `leases in zookeeper at ${label}: ${fact}; ${remedy}`, { details });
  };
}

/** All nodes at once, in their order. */
function readingAll(expect: ReturnType<typeof expecting>) {
  return async (on: ZookeeperConnection, paths: readonly string[]): Promise<(ZookeeperNode | undefined)[]> => {
    const replies = paths.map(async (path) => on.request(OP.getData, [{ string: path }, { boolean: false }]));
    const answers = await Promise.all(replies);
    return answers.map((answer) => nodeOf(expect(answer, [CODE.done, CODE.noNode])));
  };
}

function nodeOf({ code, body }: ZookeeperReply): ZookeeperNode | undefined {
  if (code === CODE.noNode) return undefined;
  const data = body.string();
  const czxid = body.long();
  // mzxid, ctime, mtime.
  for (let skipped = 0; skipped < 3; skipped++) body.long();
  const version = body.int();
  // cversion, aversion.
  for (let skipped = 0; skipped < 2; skipped++) body.int();
  return { data, czxid, version, owner: body.long() };
}
