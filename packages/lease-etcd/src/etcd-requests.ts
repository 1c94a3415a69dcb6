/** The seven things that are asked of etcd. Each may be sent again without harm. */
import { z } from "zod";
import { type EtcdGateway, GRPC } from "./etcd-gateway.ts";

/** A transaction of etcd holds 128 operations unless the server was told otherwise. */
const READS_AT_ONCE = 100;

/** A key as it is stored. */
export interface EtcdRecord {
  readonly value: string;
  /** The revision of the store that the key was made at: larger for each next making of it. */
  readonly createRevision: bigint;
  /** The number of etcd's lease that it ends with; "0": none. */
  readonly lease: string;
}

export interface EtcdRequests {
  /** Begins a lease, or its time anew if there is one with this number; the seconds that it has now. */
  begin(id: string, seconds: number, until: number): Promise<number>;
  /** Begins its time anew; the seconds that it has now, 0 if there is none. */
  keepAlive(id: string, until: number): Promise<number>;
  /** Ends the lease and its keys; nothing happens if there is none. */
  revoke(id: string, until: number): Promise<void>;
  /** How long the lease has, in whole seconds; undefined if there is none. */
  leftMs(id: string, until: number): Promise<number | undefined>;
  /** The keys as the cluster agrees on them, in the order asked; undefined where there is none. */
  read(keys: readonly string[], until: number): Promise<(EtcdRecord | undefined)[]>;
  /** Stores the key if it is not there; the record that is there then. Undefined: the lease has ended before. */
  putIfAbsent(put: EtcdPut, until: number): Promise<EtcdRecord | undefined>;
  /** Stores the key, with no end, if it is exactly `before` (undefined: not there); the value that is there then. */
  replace(put: EtcdReplacement, until: number): Promise<string | undefined>;
}

export interface EtcdReplacement {
  readonly key: string;
  readonly before: string | undefined;
  readonly value: string;
}

export interface EtcdPut {
  readonly key: string;
  readonly value: string;
  readonly lease: string;
}

// int64 comes as a string, and what is zero, false or empty does not come at all.
const seconds = z.coerce.number().default(0);
const record = z
  .object({ value: z.base64(), create_revision: z.string(), lease: z.string().default("0") })
  .transform((kv): EtcdRecord => {
    return { value: fromBase64(kv.value), createRevision: BigInt(kv.create_revision), lease: kv.lease };
  });
const grantAnswer = z.object({ TTL: seconds });
const keepAliveAnswer = z.object({ result: z.object({ TTL: seconds }) });
const revokeAnswer = z.object({});
const txnAnswer = z.object({
  header: z.object({ revision: z.string() }),
  succeeded: z.boolean().default(false),
  responses: z
    .array(z.object({ response_range: z.object({ kvs: z.array(record).default([]) }).optional() }))
    .default([]),
});

export function etcdRequests(gateway: EtcdGateway): EtcdRequests {
  const read = async (keys: readonly string[], until: number): Promise<(EtcdRecord | undefined)[]> => {
    const chunks = Array.from({ length: Math.ceil(keys.length / READS_AT_ONCE) }, async (_, at) => {
      const chunk = keys.slice(at * READS_AT_ONCE, (at + 1) * READS_AT_ONCE);
      const body = { success: chunk.map(rangeOf) };
      const answer = await gateway.call({ path: "kv/txn", body, answer: txnAnswer, until });
      return chunk.map((_key, index) => answer?.responses[index]?.response_range?.kvs[0]);
    });
    return (await Promise.all(chunks)).flat();
  };
  const grant = async (ID: string, asked: number, until: number): Promise<number | undefined> => {
    const body = { ID, TTL: String(asked) };
    const refusal = GRPC.precondition;
    return (await gateway.call({ path: "lease/grant", body, answer: grantAnswer, refusal, until }))?.TTL;
  };
  const keepAlive = async (ID: string, until: number): Promise<number> => {
    // One for each request: the gateway takes several in one body, and forgets some of them when they are many.
    const answer = await gateway.call({ path: "lease/keepalive", body: { ID }, answer: keepAliveAnswer, until });
    return answer?.result.TTL ?? 0;
  };
  return {
    read,
    keepAlive,
    begin: async (id, asked, until) => {
      // There is one with this number after a try whose answer was lost. Once it says that it has ended, it is gone.
      const granted = (await grant(id, asked, until)) ?? ((await keepAlive(id, until)) || undefined);
      return granted ?? (await grant(id, asked, until)) ?? 0;
    },
    revoke: async (ID, until) => {
      const refusal = GRPC.notFound;
      await gateway.call({ path: "lease/revoke", body: { ID }, answer: revokeAnswer, refusal, until });
    },
    leftMs: async (ID, until) => {
      if (ID === "0") return undefined;
      const answer = await gateway.call({ path: "lease/timetolive", body: { ID }, answer: grantAnswer, until });
      return answer === undefined ? undefined : Math.max(answer.TTL, 0) * 1_000;
    },
    putIfAbsent: async ({ key, value, lease }, until) => {
      const body = {
        compare: [{ target: "CREATE", key: toBase64(key), result: "EQUAL", create_revision: "0" }],
        success: [{ request_put: { key: toBase64(key), value: toBase64(value), lease } }],
        failure: [rangeOf(key)],
      };
      const answer = await gateway.call({
        path: "kv/txn",
        body,
        answer: txnAnswer,
        refusal: GRPC.notFound,
        until,
      });
      if (answer?.succeeded === true) return { value, lease, createRevision: BigInt(answer.header.revision) };
      return answer?.responses[0]?.response_range?.kvs[0];
    },
    replace: async ({ key, before, value }, until) => {
      const compare =
        before === undefined
          ? { target: "CREATE", key: toBase64(key), result: "EQUAL", create_revision: "0" }
          : { target: "VALUE", key: toBase64(key), result: "EQUAL", value: toBase64(before) };
      const body = {
        compare: [compare],
        success: [{ request_put: { key: toBase64(key), value: toBase64(value) } }],
        failure: [rangeOf(key)],
      };
      const answer = await gateway.call({ path: "kv/txn", body, answer: txnAnswer, until });
      return answer?.succeeded === true ? value : answer?.responses[0]?.response_range?.kvs[0]?.value;
    },
  };
}

function rangeOf(key: string): object {
  return { request_range: { key: toBase64(key) } };
}

function toBase64(plain: string): string {
  return Buffer.from(plain).toString("base64");
}

function fromBase64(encoded: string): string {
  return Buffer.from(encoded, "base64").toString();
}
