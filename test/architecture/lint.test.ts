import { beforeAll, describe, expect, it } from "vitest";
import { listRooms, readTags, runCheck } from "./slice.ts";

type Sample = {
  what: string;
  source: string;
  /** In `packages/core` unless another room is named. */
  room?: string;
  file?: string;
};

const rooms = await listRooms();
const edges: string[] = [];
for (const room of rooms) if ((await readTags(room)).includes("edge")) edges.push(room);

const restricted: Sample[] = [
  { what: "pg in an app", room: "apps/scheduler", source: 'export type { Pool } from "pg";' },
  { what: "pg in an app, loaded late", room: "apps/worker", source: 'export const pg: unknown = await import("pg");' },
  { what: "pg in a domain", room: "packages/run", source: 'export { Pool } from "pg";' },
  { what: "pg-copy-streams in a domain", room: "packages/sales", source: 'export { from } from "pg-copy-streams";' },
  { what: "bullmq in a domain", room: "packages/job", source: 'export { Queue } from "bullmq";' },
  { what: "bullmq in the store", room: "packages/database", source: 'export { Queue } from "bullmq";' },
  { what: "ioredis in an app", room: "apps/dashboard", source: 'export { Redis } from "ioredis";' },
  { what: "bullmq in lease-redis", room: "packages/lease-redis", source: 'export { Queue } from "bullmq";' },
  { what: "bullmq in lease-redis", room: "packages/lease-redis", source: 'export { Queue } from "bullmq";' },
  { what: "ioredis in an edge", room: "packages/lease-etcd", source: 'export { Redis } from "ioredis";' },
  { what: "ioredis in an assembly", room: "packages/lease-stores", source: 'export { Redis } from "ioredis";' },
  { what: "node:process in a domain", room: "packages/job", source: 'export { env } from "node:process";' },
  ...edges.map((room) => ({ what: `the store in ${room}`, room, source: 'export * from "@nightwriter/database";' })),
];

const violations: Record<string, Sample[]> = {
  "no-restricted-imports": restricted,
  "no-restricted-properties": [
    { what: "process.env in a domain", room: "packages/sales", source: 'export const zone = process.env["TZ"];' },
    { what: "process.env in an app, taken apart", room: "apps/worker", source: "export const { env } = process;" },
  ],
  "no-cycle": [
    { what: "a cycle, here", source: 'export { b as a } from "./cycle-b.ts";', file: "cycle-a.ts" },
    { what: "a cycle, there", source: 'export { a as b } from "./cycle-a.ts";', file: "cycle-b.ts" },
  ],
  "max-lines": [
    { what: "a file of 401 lines", source: "// a line\n".repeat(401) },
    { what: "a test of 401 lines", source: "// a line\n".repeat(401), file: "long.test.ts" },
  ],
  "max-lines-per-function": [
    { what: "a function of 71 lines", source: `export function long(): void {\n${"  // a line\n".repeat(69)}}` },
  ],
  "max-params": [
    {
      what: "a function of four parameters",
      source: "export const sum = (a: number, b: number, c: number, d: number): number => a + b + c + d;",
    },
  ],
  "no-floating-promises": [
    { what: "a promise that nobody awaits", source: "export function go(): void {\n  Promise.resolve();\n}" },
  ],
  "no-misused-promises": [
    { what: "an async callback where none is awaited", source: "[1].forEach(async () => {});" },
    { what: "a promise as a condition", source: "if (Promise.resolve(false)) console.log();" },
  ],
  "await-thenable": [{ what: "an await of a number", source: "export const one: number = await 1;" }],
  "return-await": [
    {
      what: "a promise that leaves its try block",
      source: "export async function go(): Promise<void> {\n  try {\n    return Promise.resolve();\n  } catch {}\n}",
    },
  ],
  "only-throw-error": [{ what: "a thrown string", source: 'export function go(): never {\n  throw "no";\n}' }],
  "no-explicit-any": [{ what: "any", source: "export const thing: any = 1;" }],
  "no-non-null-assertion": [{ what: "!", source: "export const first = (list: number[]): number => list[0]!;" }],
  "no-default-export": [{ what: "a default export", source: "export default 1;" }],
  "switch-exhaustiveness-check": [
    {
      what: "a switch that forgets a case",
      source: 'export function go(x: "a" | "b"): void {\n  switch (x) {\n    case "a":\n      return;\n  }\n}',
    },
  ],
  "no-focused-tests": [
    {
      what: "a test that runs alone",
      source: 'import { expect, it } from "vitest";\nit.only("holds", () => {\n  expect(1).toBe(1);\n});',
      file: "alone.test.ts",
    },
  ],
  "no-disabled-tests": [
    {
      what: "a test that is skipped",
      source: 'import { expect, it } from "vitest";\nit.skip("holds", () => {\n  expect(1).toBe(1);\n});',
      file: "skipped.test.ts",
    },
  ],
};

const lawful: Sample[] = [
  { what: "pg in database", room: "packages/database", source: 'export { Pool } from "pg";' },
  { what: "bullmq in queue", room: "packages/queue", source: 'export { Queue } from "bullmq";' },
  { what: "ioredis in queue", room: "packages/queue", source: 'export { Redis } from "ioredis";' },
  { what: "ioredis in lease-redis", room: "packages/lease-redis", source: 'export { Redis } from "ioredis";' },
  { what: "ioredis in lease-redis", room: "packages/lease-redis", source: 'export { Redis } from "ioredis";' },
  { what: "pg in queue, for BullMQ's Postgres backend", room: "packages/queue", source: 'export { Pool } from "pg";' },
  { what: "process.env in config", room: "packages/config", source: "export const { env } = process;" },
  { what: "a file of 400 lines", source: "// a line\n".repeat(399) + "export const last = 400;" },
  { what: "a function of 70 lines", source: `export function long(): void {\n${"  // a line\n".repeat(68)}}` },
];

const samples = [...Object.values(violations).flat(), ...lawful];

function pathOf(sample: Sample): string {
  return `${sample.room ?? "packages/core"}/src/${sample.file ?? `sample-${samples.indexOf(sample)}.ts`}`;
}

describe("pnpm run check:lint", () => {
  let findings: string[] = [];

  // All samples stand in one slice, each in a file of its own: a run of the linter per sample would take minutes.
  beforeAll(async () => {
    const plant = Object.fromEntries(samples.map((sample) => [pathOf(sample), `${sample.source}\n`]));
    const { passes, output } = await runCheck(["check:lint", "--format=unix"], { rooms, plant });
    expect(passes).toBe(false);
    findings = output.split("\n");
  });

  function findingsIn(sample: Sample): string[] {
    return findings.filter((finding) => finding.startsWith(`${pathOf(sample)}:`));
  }

  describe.for(Object.entries(violations))("%s", ([rule, samplesOfRule]) => {
    it.for(samplesOfRule)("refuses $what", (sample) => {
      expect(findingsIn(sample)).toContainEqual(expect.stringMatching(`Error/[a-z]+\\(${rule}\\)`));
    });
  });

  it.for(lawful)("permits $what", (sample) => {
    expect(findingsIn(sample)).toEqual([]);
  });

  it("passes where nothing is planted", async () => {
    const { passes, output } = await runCheck(["check:lint"], { rooms, plant: {} });
    expect(passes, output).toBe(true);
  });
});
