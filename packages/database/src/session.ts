/** One borrowed connection. Everything that fails in it fails as a SqlFault. */
import type { Writable } from "node:stream";
import type { CompiledQuery } from "kysely";
import type pg from "pg";
import { from } from "pg-copy-streams";
import { dropStalePlans } from "./prepared-plans.ts";
import { sqlFault } from "./sql-fault.ts";
import type { NamedQuery } from "./statement.ts";

/** What a statement answered, with the warnings that came along. */
export interface Answer<Row> {
  readonly rows: Row[];
  /** SQLSTATEs of the warnings, 01000 "canceling wait for synchronous replication" among them. */
  readonly warnings: readonly string[];
}

export interface Session {
  /** A statement with a name is prepared at its first run on this connection, and is not planned again at each. */
  run<Row>(query: CompiledQuery<Row> | NamedQuery<Row>): Promise<Answer<Row>>;
  /** Plain SQL with $1, $2…: for begin, commit, advisory locks, temporary tables. */
  query<Row extends object>(text: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** `copy … from stdin`: a stream that takes the rows, with back-pressure. Its errors are the driver's own. */
  copyFrom(text: string): Writable;
}

export function sessionOf(client: pg.PoolClient): Session {
  const send = async <Row>(config: pg.QueryConfig): Promise<Row[]> => {
    try {
      if (config.name !== undefined) await dropStalePlans(client);
      return (await client.query(config)).rows;
    } catch (error) {
      throw sqlFault(error);
    }
  };
  return {
    query: async (text, parameters = []) => send({ text, values: [...parameters] }),
    copyFrom: (text) => client.query(from(text)),
    async run<Row>(query: CompiledQuery<Row> | NamedQuery<Row>): Promise<Answer<Row>> {
      const named = "name" in query ? { name: query.name } : {};
      const warnings: string[] = [];
      const note = (notice: { code: string | undefined }): void => void warnings.push(notice.code ?? "");
      client.on("notice", note);
      try {
        return { rows: await send<Row>({ ...named, text: query.sql, values: [...query.parameters] }), warnings };
      } finally {
        client.off("notice", note);
      }
    },
  };
}
