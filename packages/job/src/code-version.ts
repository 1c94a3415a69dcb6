/** What a build calls its source query, and how two builds find out whether they mean the same one by it. */
import { createHash } from "node:crypto";
import { toJson } from "@nightwriter/core";
import type { Schema } from "@nightwriter/database";
import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import type { JobDefinition } from "./job-definition.ts";

/** A source query, by the number that the code gives it and by what it says. */
export interface CodeVersion {
  /** `queryVersion` of the definition. */
  readonly number: number;
  /** SHA-256, hexadecimal. Undefined: whoever brought it in knew no hashes. */
  readonly queryHash: string | undefined;
}

/**
 * The version of this build's source query. Two are the same if number and hash are.
 *
 * The hash covers what decides on an amount: the compiled SQL of `source.rows` with its parameters, the source's kind and, of a lookback, its
 * days. Equal text is the rule, since nothing cheaper says that two queries mean the same: who rewrites a query, or takes a
 * query builder that words it otherwise, raises the number. Not covered are keys, times and partition counts, which change no
 * amount, and what the query calls in the database (views, functions): who changes these raises the number too.
 */
export function codeVersionOf({ queryVersion, source }: JobDefinition): CodeVersion {
  const { sql, parameters } = compiler.selectFrom(source.rows(compiler).as("source")).selectAll().compile();
  const days = source.kind === "lookback" ? source.days : undefined;
  const text = toJson({ kind: source.kind, days, sql, parameters });
  return { number: queryVersion, queryHash: createHash("sha256").update(text).digest("hex") };
}

/** `1 (query 0f3a9c21)`; of a hash, eight digits tell two queries apart for people. */
export function describeCodeVersion({ number, queryHash }: CodeVersion): string {
  return `${number} (query ${queryHash?.slice(0, 8) ?? "unknown"})`;
}

/** Builds and compiles, and speaks to no server. */
const compiler = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});
