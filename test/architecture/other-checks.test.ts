import { describe, expect, it } from "vitest";
import { runCheck } from "./slice.ts";

const rooms = ["packages/core"];
// A slice of one room uses little of the catalog; that is no finding here.
const UNUSED = ["check:unused", "--exclude=catalog"] as const;

const violations = [
  {
    check: ["check:format"] as const,
    what: "a line that the formatter would write otherwise",
    plant: { "packages/core/src/planted.ts": "export const text: string = 'single';\n" },
    says: "packages/core/src/planted.ts format",
  },
  {
    check: ["check:format"] as const,
    what: "imports out of order",
    plant: { "packages/core/src/planted.ts": 'export type { Z } from "./z.ts";\nexport type { A } from "./a.ts";\n' },
    says: "packages/core/src/planted.ts",
  },
  {
    check: ["check:types"] as const,
    what: "a number where a string is due",
    plant: { "packages/core/src/planted.ts": "export const text: string = 1;\n" },
    says: "packages/core/src/planted.ts(1,14): error TS2322",
  },
  {
    check: ["check:types"] as const,
    what: "an enum, which Node cannot strip",
    plant: { "packages/core/src/planted.ts": "export enum Planted {\n  A,\n}\n" },
    says: "packages/core/src/planted.ts(1,13): error TS1294",
  },
  {
    check: UNUSED,
    what: "a file that nobody imports",
    plant: { "packages/core/src/planted.ts": "export const text: string = '';\n" },
    says: "packages/core/src/planted.ts",
  },
  {
    check: UNUSED,
    what: "a dependency that nobody imports",
    plant: { "packages/core/package.json": '{ "name": "@nightwriter/core", "dependencies": { "zod": "catalog:" } }\n' },
    says: "zod",
  },
  {
    check: ["check:versions"] as const,
    what: "two versions of one package",
    plant: {
      "packages/core/package.json":
        '{ "name": "@nightwriter/core", "private": true, "dependencies": { "zod": "4.6.7" } }\n',
      "packages/job/package.json":
        '{ "name": "@nightwriter/job", "private": true, "dependencies": { "zod": "4.6.6" } }\n',
    },
    says: "multiple-dependency-versions",
  },
];

describe("the other checks", () => {
  it.for(violations)("$check.0 refuses $what", async ({ check, plant, says }) => {
    const { passes, output } = await runCheck(check, { rooms, plant });
    expect(passes).toBe(false);
    expect(output).toContain(says);
  });

  it.for([["check:format"], ["check:types"], UNUSED, ["check:versions"]] as const)(
    "%s passes where nothing is planted",
    async (check) => {
      const { passes, output } = await runCheck(check, { rooms, plant: {} });
      expect(passes, output).toBe(true);
    },
  );
});
