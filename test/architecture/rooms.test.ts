import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listRooms, ROOT, readManifest, readTags } from "./slice.ts";

const rooms = await listRooms();

describe("a room", () => {
  it.for(rooms)("%s has the name of its folder and one tag of its floor", async (room) => {
    const [floor = "", noun = ""] = room.split("/");
    const known = floor === "apps" ? ["app"] : ["assembly", "edge", "domain", "store", "kernel", "testkit"];
    const tags = await readTags(room);
    expect((await readManifest(room)).name).toBe(`@nightwriter/${noun}`);
    expect(tags).toHaveLength(1);
    expect(known).toEqual(expect.arrayContaining(tags));
  });

  it.for(rooms)("%s has a design note", async (room) => {
    const note = await readFile(join(ROOT, room, "README.md"), "utf8");
    expect(note).toMatch(/^# \S/);
    expect(note.split("\n").length).toBeGreaterThan(10);
  });

  it.for(rooms.filter((room) => room.startsWith("packages/")))("%s exports at most 15 values", async (room) => {
    const exported: Record<string, unknown> = await import(join(ROOT, room, "src/index.ts"));
    expect(Object.keys(exported).length).toBeLessThanOrEqual(15);
  });
});
