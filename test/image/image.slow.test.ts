import { chmod, cp, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testDatabase } from "@nightwriter/testkit";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildImage, type Image } from "./build-image.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Nobody: a user that owns nothing in the image. */
const NOBODY = 65_534;

describe("the image of deploy/Dockerfile", () => {
  let scratch = "";
  let image: Image;

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), "nightwriter-image-"));
    await chmod(scratch, 0o755);
    const context = join(scratch, "context");
    // What a clone has, as it stands now: .dockerignore names nothing that git tracks.
    const { stdout } = await execa("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: ROOT });
    for (const file of stdout.split("\n")) await cp(join(ROOT, file), join(context, file)).catch(ignoreDeleted);
    image = await buildImage(join(ROOT, "deploy/Dockerfile"), { context, scratch });
  }, 300_000);

  afterAll(async () => {
    await rm(scratch, { recursive: true, force: true });
  });

  async function start(args: string[], env: Record<string, string> = {}) {
    const cwd = join(image.folder, image.workdir);
    const [command = "", ...rest] = image.entrypoint;
    const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    return execa(join(cwd, command), [...rest, ...args], {
      cwd,
      env: { ...image.env, ...env, PATH: "/usr/bin:/bin" },
      extendEnv: false,
      reject: false,
      ...user,
    });
  }

  it("starts the command line without writing anything, as a user that owns nothing", async () => {
    const { exitCode, stdout, stderr } = await start(["--help"]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(stdout).toContain("nightwriter VERB");
    expect(image.user).toBe("node");
  });

  it("reaches a database", async () => {
    await using test = await testDatabase();
    const { exitCode, stderr } = await start(["migrate"], { DATABASE_URL: test.url });
    expect(exitCode, stderr).toBe(0);
  });

  it("holds what production needs and nothing that only developers need", async () => {
    const app = join(image.folder, image.workdir);
    await expect(stat(join(app, "node_modules/.bin/node"))).resolves.toBeDefined();
    for (const absent of ["node_modules/vitest", "packages/testkit", "test", ".nightwriter"]) {
      await expect(stat(join(app, absent))).rejects.toThrow("ENOENT");
    }
  });
});

function ignoreDeleted(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
}
