import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import { describe, expect, it } from "vitest";
import { parameter, statement } from "./statement.ts";

interface Tables {
  sale: { key: string; amount: bigint; line: number };
}

const db = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (of) => new PostgresIntrospector(of),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});
const keys = parameter<string>("keys", "text[]");
const query = db
  .selectFrom("sale")
  .select("line")
  .where("key", "=", keys)
  .where("line", ">", 7)
  .where("amount", ">=", parameter<bigint>("least", "bigint"))
  .where("key", "<>", keys);

describe("statement", () => {
  it("puts each value where its name stands, as often as it stands there, between the query's own values", () => {
    const bound = statement(query).bind({ least: 5n, keys: ["a", "b"] });
    expect(bound.sql).toBe(
      'select "line" from "sale" where "key" = $1::text[] and "line" > $2 and "amount" >= $3::bigint and "key" <> $4::text[]',
    );
    expect(bound.parameters).toEqual([["a", "b"], 7, 5n, ["a", "b"]]);
  });

  it("binds null and undefined when they are given", () => {
    expect(statement(query).bind({ least: null, keys: undefined }).parameters).toEqual([undefined, 7, null, undefined]);
  });

  it("refuses to be bound without a value for each name", () => {
    const built = statement<object, unknown>(query);
    expect(() => built.bind({ keys: ["a"] })).toThrow(/parameter least is not bound/);
  });

  it("takes no value from an earlier binding", () => {
    const built = statement(query);
    const first = built.bind({ least: 1n, keys: ["a"] });
    built.bind({ least: 2n, keys: ["b"] });
    expect(first.parameters).toEqual([["a"], 7, 1n, ["a"]]);
  });

  it("has a name that is the same for the same text, and another one for another", () => {
    const values = { least: 1n, keys: [] };
    const { name } = statement(query).bind(values);
    expect(statement(query).bind(values).name).toBe(name);
    expect(statement(query.limit(1)).bind(values).name).not.toBe(name);
  });
});
