/**
 * A statement that is built once and run many times: its parameters have names until it is bound.
 *
 * Building a large query costs more than running it on a warm index. The text of a statement whose parameters are arrays
 * does not depend on their values, so it is compiled once, and the server may keep its plan under the statement's name.
 */
import { createHash } from "node:crypto";
import { invariant } from "@nightwriter/core";
import { type Compilable, type CompiledQuery, type RawBuilder, sql } from "kysely";

class Parameter {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Stands in a query for a value that {@link statement} binds later. `type` is its SQL type, `bigint[]`. */
export function parameter<T>(name: string, type: string): RawBuilder<T> {
  return sql<T>`${new Parameter(name)}::${sql.raw(type)}`;
}

/** A compiled query with a name by which the server can keep it prepared. */
export interface NamedQuery<Row> extends CompiledQuery<Row> {
  readonly name: string;
  /** Never there: it carries the type of the rows. */
  readonly row?: Row;
}

export interface Statement<Values, Row> {
  readonly sql: string;
  bind(values: Values): NamedQuery<Row>;
}

/** Compiles `query`; every {@link parameter} in it must be a property of the values it is bound with. */
export function statement<Values extends object, Row>(query: Compilable<Row>): Statement<Values, Row> {
  const compiled = query.compile();
  const name = createHash("sha256").update(compiled.sql).digest("base64url").slice(0, 24);
  const bind = (values: Values): NamedQuery<Row> => {
    const given = new Map<string, unknown>(Object.entries(values));
    const parameters = compiled.parameters.map((each) => {
      if (!(each instanceof Parameter)) return each;
      invariant(given.has(each.name), `statement ${name}: parameter ${each.name} is not bound`);
      return given.get(each.name);
    });
    return { ...compiled, name, parameters };
  };
  return { sql: compiled.sql, bind };
}
