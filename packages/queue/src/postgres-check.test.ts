import { describe, expect, it } from "vitest";
import { checkPostgres } from "./postgres-check.ts";

describe("checkPostgres", () => {
  it.each([
    ["14.19", 140019],
    ["9.6.24", 90624],
  ])("refuses version %s", (version, number) => {
    expect(() => checkPostgres({ version, number }, "postgres at db:5432/night")).toThrow(
      `queue postgres at db:5432/night: PostgreSQL ${version}; 15 or newer is needed: upgrade it`,
    );
  });

  it.each([
    ["15.0", 150000],
    ["18.1", 180001],
  ])("accepts version %s", (version, number) => {
    expect(() => checkPostgres({ version, number }, "postgres at db:5432/night")).not.toThrow();
  });
});
