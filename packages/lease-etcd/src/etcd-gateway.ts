/** etcd's JSON gateway: logs in where it must, parses what is said, and sorts refusals into faults. */
import { LeaseFault, type ServerList } from "@nightwriter/lease";
import { z } from "zod";
import { type EtcdReply, openEtcdTransport } from "./etcd-transport.ts";

/** Of gRPC, which the gateway translates: those that mean something to a caller or to us. */
export const GRPC = { invalid: 3, notFound: 5, denied: 7, precondition: 9, unauthenticated: 16 } as const;

/** Refusals that waiting does not change. */
const lasting: ReadonlySet<number> = new Set([GRPC.invalid, GRPC.denied, GRPC.precondition, GRPC.unauthenticated]);

export interface EtcdCall<Answer> {
  /** Below `/v3/`. */
  readonly path: string;
  readonly body: object;
  readonly answer: z.ZodType<Answer>;
  /** A gRPC code that is an answer too, told as undefined. */
  readonly refusal?: number;
  /** Until when there must be an answer, by performance.now(). */
  readonly until: number;
}

export interface EtcdGateway {
  readonly label: string;
  /** Throws LeaseFault. */
  call<Answer>(call: EtcdCall<Answer>): Promise<Answer | undefined>;
  /** Ends all connections. A call under way fails. */
  close(): void;
}

/** A stream, such as lease/keepalive, puts its refusals one level deeper, and calls the code otherwise. */
const refusalBody = z.union([
  z.object({ code: z.number(), message: z.string() }),
  z
    .object({ error: z.object({ grpc_code: z.number(), message: z.string() }) })
    .transform(({ error }) => ({ code: error.grpc_code, message: error.message })),
]);
const tokenBody = z.object({ token: z.string() });

export function openEtcdGateway(url: ServerList, applicationName: string): EtcdGateway {
  const { credentials, label } = url;
  const transport = openEtcdTransport(url, applicationName);
  const subject = `leases in etcd at ${label}`;
  let login: Promise<string> | undefined;

  const call = async <Answer>(question: EtcdCall<Answer>): Promise<Answer | undefined> => {
    const { path, body, until, answer, refusal } = question;
    const known = login;
    if (credentials !== undefined) login ??= authenticate(credentials, until);
    const used = login;
    const reply = await transport.post({ path, body, until, token: await used });
    if (reply.status === 200) return parse(answer, reply);
    const { code, message } = parse(refusalBody, reply);
    if (code === refusal) return undefined;
    // Tokens end: with their time, with the server that gave them, at any change of a user or role.
    if (known !== undefined && (code === GRPC.unauthenticated || code === GRPC.invalid)) {
      if (login === known) login = undefined;
      return call(question);
    }
    throw refused(message, code);
  };

  const authenticate = async (body: object, until: number): Promise<string> => {
    try {
      const reply = await transport.post({ path: "auth/authenticate", body, until, token: undefined });
      if (reply.status === 200) return parse(tokenBody, reply).token;
      const { code, message } = parse(refusalBody, reply);
      throw refused(message, code);
    } catch (error) {
      login = undefined;
      throw error;
    }
  };

  const parse = <Answer>(schema: z.ZodType<Answer>, { status, body }: EtcdReply): Answer => {
    const parsed = schema.safeParse(body);
    if (parsed.success) return parsed.data;
    const message = `${subject}: status ${status} without an answer of etcd's JSON gateway; needs etcd 3.4 or newer with it on`;
    throw new LeaseFault("lease_store_unfit", message, { details: { servers: label, status } });
  };

  const refused = (message: string, code: number): LeaseFault => {
    const details = { servers: label, code };
    return lasting.has(code)
      ? new LeaseFault("lease_store_unfit", `${subject}: ${message}; see user and password of LEASE_URL`, { details })
      : new LeaseFault("lease_store_away", `${subject}: ${message}; asked again`, { details, retryable: true });
  };

  return { label, call, close: () => transport.close() };
}
