/**
 * Loses its backend while the client is idle or lent out, and says so if it is still there afterwards. The pool is ours, or
 * a bare one of pg, with or without the one listener that its manual asks for.
 */

import { silentLogger } from "@nightwriter/core";
import { openDatabase } from "@nightwriter/database";
import pg from "pg";

type Query = (text: string) => Promise<{ pid?: number }[]>;

interface Subject {
  /** Lends the pool's one connection. */
  lend<Result>(work: (query: Query) => Promise<Result>): Promise<Result>;
  /** Settles when the loss of a connection was reported; where nobody listens, the process ends before that. */
  readonly lost: Promise<void>;
}

const [, , kind = "", state = ""] = process.argv;
const url = process.env["DATABASE_URL"] ?? "";

function ours(): Subject {
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  const logger = { ...silentLogger, warn: () => resolve() };
  const database = openDatabase({ url, applicationName: "subject", max: 1, logger });
  return { lend: async (work) => database.session(async (session) => work(async (text) => session.query(text))), lost };
}

function bare({ listening }: { listening: boolean }): Subject {
  const { promise: lost, resolve } = Promise.withResolvers<void>();
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  if (listening) pool.on("error", () => resolve());
  const lend: Subject["lend"] = async (work) => {
    const client = await pool.connect();
    const result = await work(async (text) => (await client.query(text)).rows);
    client.release();
    return result;
  };
  return { lend, lost };
}

async function pidOf(query: Query): Promise<number | undefined> {
  return (await query("select pg_backend_pid() as pid"))[0]?.pid;
}

const subject = kind === "ours" ? ours() : bare({ listening: kind === "listening" });
const killer = openDatabase({ url, applicationName: "killer", max: 1 });

async function lose(pid: number | undefined): Promise<void> {
  await killer.session(async (session) => session.query("select pg_terminate_backend($1, 5000)", [pid]));
  await subject.lost;
}

const first = await subject.lend(async (query) => {
  const pid = await pidOf(query);
  if (state === "idle") return pid;
  await lose(pid);
  const code = await query("select 1").then(
    () => "none",
    (error: unknown) => (error instanceof Error && "code" in error ? error.code : "none"),
  );
  console.log(JSON.stringify({ msg: "lent out", code }));
  return pid;
});
if (state === "idle") await lose(first);
const second = await subject.lend(pidOf);
console.log(JSON.stringify({ msg: "went on", anew: second !== first }));
process.exit(0);
