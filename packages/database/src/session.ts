/** One borrowed connection. Everything that fails in it fails as a SqlFault. */
import type { Writable } from "node:stream";
import type { CompiledQuery } from "kysely";
import type pg from "pg";
import { from } from "pg-copy-streams";
import { sqlFault } from "./sql-fault.ts";
import type { NamedQuery } from "./statement.ts";

/** What a statement answered, with the warnings that came along. */
export interface Answer<Row> {
  readonly rows: Row[];
  /** SQLSTATEs of the warnings, 01000 "canceling wait for synchronous replication" among them. */
  readonly warnings: readonly string[];
}

export interface Session {
  run<Row>(query: CompiledQuery<Row> | NamedQuery<Row>): Promise<Answer<Row>>;
  /** Plain SQL with $1, $2…: for begin, commit, advisory locks, temporary tables. */
  query<Row extends object>(text: string, parameters?: readonly unknown[]): Promise<Row[]>;
  /** `copy … from stdin`: a stream that takes the rows, with back-pressure. Its errors are the driver's own. */
  copyFrom(text: string): Writable;
}

export function sessionOf(client: pg.PoolClient): Session {
  const query = async <Row>(text: string, parameters: readonly unknown[] = []): Promise<Row[]> => {
    try {
      return (await client.query(text, [...parameters])).rows;
    } catch (error) {
      throw sqlFault(error);
    }
  };
  return {
    query,
    copyFrom: (text) => client.query(from(text)),
    async run<Row>({ sql, parameters }: CompiledQuery<Row>): Promise<Answer<Row>> {
      const warnings: string[] = [];
      const note = (notice: { code: string | undefined }): void => void warnings.push(notice.code ?? "");
      client.on("notice", note);
      try {
        return { rows: await query<Row>(sql, parameters), warnings };
      } finally {
        client.off("notice", note);
      }
    },
  };
}
