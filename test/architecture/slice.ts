import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";

export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** Files to write, by their path from the root. */
export type Plant = Readonly<Record<string, string>>;

export type Manifest = { name: string; dependencies?: Record<string, string> };

const ROOT_FILES = [
  ".gitignore",
  "biome.json",
  "knip.json",
  "oxlint.config.ts",
  "package.json",
  "pnpm-lock.yaml",
  "pnpm-workspace.yaml",
  "tsconfig",
  "tsconfig.json",
  "turbo.json",
];

/** Every room of the house, as its path from the root: `apps/worker`, `packages/core`. */
export async function listRooms(): Promise<string[]> {
  const rooms = await Promise.all(
    ["apps", "packages"].map(async (floor) => {
      const entries = await readdir(join(ROOT, floor), { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map((entry) => `${floor}/${entry.name}`);
    }),
  );
  return rooms.flat().toSorted();
}

export async function readManifest(room: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(ROOT, room, "package.json"), "utf8")) as Manifest;
}

export async function readTags(room: string): Promise<string[]> {
  const { tags } = JSON.parse(await readFile(join(ROOT, room, "turbo.json"), "utf8")) as { tags: string[] };
  return tags;
}

/** The room's manifest with one more package of the workspace to depend on, and a source file that imports it. */
export async function plantImport(room: string, name: string): Promise<Plant> {
  const manifest = await readManifest(room);
  const dependencies = { ...manifest.dependencies, [name]: "workspace:*" };
  return {
    [`${room}/package.json`]: JSON.stringify({ ...manifest, dependencies }, undefined, 2),
    [`${room}/src/planted.ts`]: `export type * from "${name}";\n`,
  };
}

/**
 * Runs a check of the real package.json over a slice of the house: the real configuration and the real manifests of the
 * rooms, one line of source in each, and what is planted. The slice is a temporary folder and gone afterwards.
 */
export async function runCheck(
  check: readonly [name: string, ...args: string[]],
  { rooms, plant }: { rooms: readonly string[]; plant: Plant },
): Promise<{ passes: boolean; output: string }> {
  const slice = await mkdtemp(join(tmpdir(), "nightwriter-slice-"));
  try {
    await Promise.all(ROOT_FILES.map(async (file) => cp(join(ROOT, file), join(slice, file), { recursive: true })));
    await symlink(join(ROOT, "node_modules"), join(slice, "node_modules"));
    for (const room of rooms) {
      await mkdir(join(slice, room, "src"), { recursive: true });
      for (const file of ["package.json", "turbo.json"]) await cp(join(ROOT, room, file), join(slice, room, file));
      await writeFile(join(slice, room, "src/index.ts"), `export const room: string = "${room}";\n`);
    }
    for (const [path, text] of Object.entries(plant)) {
      await mkdir(dirname(join(slice, path)), { recursive: true });
      await writeFile(join(slice, path), text);
    }
    const { exitCode, all } = await execa("pnpm", ["run", ...check], { cwd: slice, all: true, reject: false });
    return { passes: exitCode === 0, output: all };
  } finally {
    await rm(slice, { recursive: true, force: true });
  }
}
