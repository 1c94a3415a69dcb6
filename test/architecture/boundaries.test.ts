import { describe, expect, it } from "vitest";
import { listRooms, plantImport, runCheck } from "./slice.ts";

const rooms = await listRooms();
const CHECK = ["check:boundaries"] as const;

const wrongArrows = [
  { what: "kernel to store", room: "packages/core", name: "@nightwriter/database" },
  { what: "store to domain", room: "packages/database", name: "@nightwriter/job" },
  { what: "domain to edge", room: "packages/job", name: "@nightwriter/queue" },
  { what: "domain to app", room: "packages/run", name: "@nightwriter/worker" },
  { what: "edge to edge", room: "packages/queue", name: "@nightwriter/config" },
  { what: "edge to app", room: "packages/services", name: "@nightwriter/admin" },
  { what: "edge to assembly", room: "packages/config", name: "@nightwriter/lease-stores" },
  { what: "domain to assembly", room: "packages/job", name: "@nightwriter/lease-stores" },
  { what: "assembly to app", room: "packages/lease-stores", name: "@nightwriter/worker" },
  { what: "app to app", room: "apps/admin", name: "@nightwriter/worker" },
  { what: "app to testkit", room: "apps/worker", name: "@nightwriter/testkit" },
  { what: "domain to testkit", room: "packages/ledger", name: "@nightwriter/testkit" },
];

describe("pnpm run check:boundaries", () => {
  it.for(wrongArrows)("refuses an arrow from $what", async ({ room, name }) => {
    const { passes, output } = await runCheck(CHECK, { rooms, plant: await plantImport(room, name) });
    expect(passes).toBe(false);
    expect(output.replace(/\s+[|]?\s*/g, " ")).toContain(`Package \`${name}\` found`);
  });

  it("refuses a cycle of two packages of the domain", async () => {
    const plant = await plantImport("packages/job", "@nightwriter/run");
    const { passes, output } = await runCheck(CHECK, { rooms, plant });
    expect(passes).toBe(false);
    expect(output).toContain("Circular package dependency");
  });

  it("refuses an import that the manifest does not declare", async () => {
    const plant = { "packages/core/src/planted.ts": 'export * from "@nightwriter/job";\n' };
    const { passes, output } = await runCheck(CHECK, { rooms, plant });
    expect(passes).toBe(false);
    expect(output).toContain("cannot import package `@nightwriter/job`");
  });

  it("refuses an import of another package's file by its path", async () => {
    const plant = { "packages/job/src/planted.ts": 'export * from "../../core/src/index.ts";\n' };
    const { passes, output } = await runCheck(CHECK, { rooms, plant });
    expect(passes).toBe(false);
    expect(output).toContain("`../../core/src/index.ts` leaves the package");
  });

  it("permits an edge that imports the domain", async () => {
    const { passes, output } = await runCheck(CHECK, {
      rooms,
      plant: await plantImport("packages/queue", "@nightwriter/run"),
    });
    expect(passes, output).toBe(true);
  });

  it("permits an assembly that imports several edges, and an app that imports it", async () => {
    const plants = [
      await plantImport("packages/lease-stores", "@nightwriter/config"),
      await plantImport("apps/dashboard", "@nightwriter/lease-stores"),
    ];
    const { passes, output } = await runCheck(CHECK, { rooms, plant: Object.assign({}, ...plants) });
    expect(passes, output).toBe(true);
  });

  it("passes where nothing is planted", async () => {
    const { passes, output } = await runCheck(CHECK, { rooms, plant: {} });
    expect(passes, output).toBe(true);
  });
});
