/**
 * A build of the product as it stood at an earlier commit, for what must work beside it.
 *
 * Its source comes from the git history into a folder of its own under `.nightwriter/builds`, its packages are the
 * checkout's: the links that the package manager has made for each room are made there too, so that its rooms import one
 * another and never the checkout's. Should its commit have pinned another version of a package, it runs on today's.
 */

import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, symlink } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { Fault } from "@nightwriter/core";

const ROOT = resolve(import.meta.dirname, "../../..");
const BUILDS = join(ROOT, ".nightwriter/builds");

const run = promisify(execFile);

/** A build of an earlier commit, on disk until somebody removes `.nightwriter`. */
export interface OlderBuild {
  /** The whole commit id. */
  readonly commit: string;
  /** The folder that is its root, as the checkout's is the checkout's. */
  readonly root: string;
}

/**
 * The build of a commit, made at the first call and found again at later ones, also by other processes. Undefined where the
 * copy has no such commit in its history, as a shallow clone or an image: `leftOut` is then printed as what goes undone, and
 * the caller, which cannot skip its test, proves what it still can.
 *
 * Throws a Fault `build_incomplete` when the commit needs a package that the checkout no longer has.
 *
 * @example
 * const build = await olderBuild("c241fd6", "workers of c241fd6 beside these");
 * if (build !== undefined) await using app = await spawnApp("apps/worker/src/main.ts", environment, { build });
 */
export async function olderBuild(revision: string, leftOut: string): Promise<OlderBuild | undefined> {
  const commit = await findCommit(revision);
  if (commit === undefined) {
    process.stderr.write(`left out, since commit ${revision} is not in this copy's git history: ${leftOut}\n`);
    return undefined;
  }
  const root = join(BUILDS, `${commit.slice(0, 12)}-${await packagesDigest()}`);
  if (!(await exists(root))) await make(commit, root);
  return { commit, root };
}

async function findCommit(revision: string): Promise<string | undefined> {
  try {
    const { stdout } = await run("git", ["-C", ROOT, "rev-parse", "--verify", "--quiet", `${revision}^{commit}`]);
    return stdout.trim();
  } catch {
    return undefined;
  }
}

/** Changes whenever packages are installed anew: links of an earlier installation lead nowhere. */
async function packagesDigest(): Promise<string> {
  const lockfile = await readFile(join(ROOT, "pnpm-lock.yaml"));
  return createHash("sha256").update(lockfile).digest("hex").slice(0, 8);
}

/** Whole or not at all: made under another name and renamed. Who comes second takes what the first has made. */
async function make(commit: string, root: string): Promise<void> {
  await mkdir(BUILDS, { recursive: true });
  const making = await mkdtemp(join(BUILDS, `making-${randomBytes(4).toString("hex")}-`));
  try {
    const archive = join(making, "archive.tar");
    const build = join(making, "build");
    await mkdir(build);
    await run("git", ["-C", ROOT, "archive", "--format=tar", `--output=${archive}`, commit]);
    await run("tar", ["-xf", archive, "-C", build]);
    await linkPackages(build);
    await rename(build, root).catch(async (error: unknown) => {
      if (!(await exists(root))) throw error;
    });
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

async function linkPackages(build: string): Promise<void> {
  // Relative to where the build will stand, as deep as where it is made plus one: BUILDS/NAME instead of BUILDS/making/build.
  await symlink(relative(join(BUILDS, "name"), join(ROOT, "node_modules")), join(build, "node_modules"));
  for (const folder of ["apps", "packages"]) {
    for (const room of await readdir(join(build, folder))) await linkRoom(build, `${folder}/${room}`);
  }
  await linkRoom(build, "test");
}

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

async function linkRoom(build: string, room: string): Promise<void> {
  const manifest = JSON.parse(await readFile(join(build, room, "package.json"), "utf8")) as Manifest;
  const wanted = { ...manifest.dependencies, ...manifest.devDependencies };
  for (const [name, version] of Object.entries(wanted)) {
    const link = join(build, room, "node_modules", name);
    await mkdir(resolve(link, ".."), { recursive: true });
    await symlink(
      version.startsWith("workspace:")
        ? relative(resolve(link, ".."), join(build, "packages", name.replace("@nightwriter/", "")))
        : await packageInCheckout(name, room),
      link,
    );
  }
}

/** Where the checkout has the package: for the same room, or for any other that uses it. */
async function packageInCheckout(name: string, room: string): Promise<string> {
  for (const candidate of [room, ...(await roomsOfCheckout())]) {
    const path = join(ROOT, candidate, "node_modules", name);
    if (await exists(path)) return path;
  }
  throw new Fault(
    "build_incomplete",
    `package ${name}: is not in this checkout, and ${room} of the older build needs it`,
    {
      details: { name, room },
    },
  );
}

async function roomsOfCheckout(): Promise<readonly string[]> {
  const folders = ["apps", "packages"];
  const rooms = await Promise.all(
    folders.map(async (folder) => (await readdir(join(ROOT, folder))).map((room) => `${folder}/${room}`)),
  );
  return [...rooms.flat(), "test", "."];
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
