import { once } from "node:events";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa, type Options } from "execa";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const LAUNCHER = fileURLToPath(new URL("../../nightwriter", import.meta.url));

// What the launcher calls, without a network: an npm that brings a pnpm, whose install links this Node and counts itself.
const NODE = `#!/bin/sh\nif [ "$1" = --version ]; then echo "v20.19.0"; else exec ${process.execPath} "$@"; fi\n`;
const PNPM = `#!/bin/sh
echo "$*" >>installs
sleep 0.2
mkdir -p node_modules/.bin
ln -sf ${process.execPath} node_modules/.bin/node
`;
const NPM = `#!/bin/sh
bin=$3/node_modules/.bin
mkdir -p "$bin"
cp "$(dirname "$0")/pnpm.sh" "$bin/pnpm"
`;

describe("./nightwriter", () => {
  let folder = "";
  let checkout = "";
  let tools = "";

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "nightwriter launcher "));
    checkout = join(folder, "a check out");
    tools = join(folder, "tools");
    await mkdir(join(checkout, "apps/admin/src"), { recursive: true });
    await cp(LAUNCHER, join(checkout, "nightwriter"));
    await write(checkout, {
      "package.json": '{\n  "packageManager": "pnpm@12.21.0"\n}\n',
      "pnpm-workspace.yaml": "",
      "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
      "apps/admin/src/main.ts": "console.log(JSON.stringify(process.argv.slice(2)));\n",
    });
    await write(tools, { node: NODE, npm: NPM, "pnpm.sh": PNPM });
  });

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  async function write(where: string, files: Record<string, string>): Promise<void> {
    await mkdir(where, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(where, name), text);
      await chmod(join(where, name), 0o755);
    }
  }

  async function launch(
    args: readonly string[] = [],
    { file = join(checkout, "nightwriter"), ...options }: Options & { file?: string } = {},
  ) {
    const { exitCode, stdout, stderr } = await execa(file, args, {
      extendEnv: false,
      env: { PATH: `${tools}:/usr/bin:/bin` },
      reject: false,
      ...options,
    });
    return { exitCode, stdout: String(stdout), stderr: String(stderr) };
  }

  async function installs(): Promise<string[]> {
    return (await readFile(join(checkout, "installs"), "utf8")).trimEnd().split("\n");
  }

  it("sets up by the lockfile, says so in one line on stderr, and passes the arguments on as they are", async () => {
    const { exitCode, stdout, stderr } = await launch(["run", "--date", "a b", "*"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '["run","--date","a b","*"]' });
    expect(stderr).toMatch(/^nightwriter: setting up pnpm 12\.21\.0 and the packages .*$/);
    expect(await installs()).toEqual(["install --frozen-lockfile"]);
  });

  it("does nothing but start the second time, silently", async () => {
    await launch();
    const { exitCode, stderr } = await launch();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    expect(await installs()).toHaveLength(1);
  });

  it("sets up again after the lockfile changed", async () => {
    await launch();
    await writeFile(join(checkout, "pnpm-lock.yaml"), "lockfileVersion: '9.1'\n");
    await launch();
    expect(await installs()).toHaveLength(2);
  });

  it("starts from any folder and through links", async () => {
    await mkdir(join(folder, "bin"));
    await symlink("../a check out/nightwriter", join(folder, "bin/nw"));
    await symlink(join(folder, "bin/nw"), join(folder, "night"));
    const { stdout, exitCode } = await launch(["status"], { file: join(folder, "night"), cwd: "/" });
    expect({ stdout, exitCode }).toEqual({ stdout: '["status"]', exitCode: 0 });
  });

  it("sets up once when it is called three times at once", async () => {
    const calls = await Promise.all([launch(["1"]), launch(["2"]), launch(["3"])]);
    expect(calls.map(({ exitCode, stdout }) => [exitCode, stdout])).toEqual([
      [0, '["1"]'],
      [0, '["2"]'],
      [0, '["3"]'],
    ]);
    expect(await installs()).toHaveLength(1);
  });

  it("waits, and says for whom, while another process sets up", async () => {
    await mkdir(join(checkout, ".nightwriter"));
    await symlink(String(process.pid), join(checkout, ".nightwriter/lock"));
    const call = execa(join(checkout, "nightwriter"), { extendEnv: false, env: { PATH: `${tools}:/usr/bin:/bin` } });
    const [said] = await once(call.stderr, "data");
    expect(String(said)).toBe(`nightwriter: waiting for process ${process.pid}, which sets up\n`);
    await rm(join(checkout, ".nightwriter/lock"));
    expect(await call).toMatchObject({ exitCode: 0 });
  });

  it("takes over the lock of a process that is dead", async () => {
    const dead = execa("true");
    await dead;
    await mkdir(join(checkout, ".nightwriter"));
    await symlink(String(dead.pid), join(checkout, ".nightwriter/lock"));
    expect(await launch()).toMatchObject({ exitCode: 0 });
    expect(await installs()).toHaveLength(1);
  });

  it("passes on the exit code of the verb", async () => {
    await writeFile(join(checkout, "apps/admin/src/main.ts"), "process.exit(3);\n");
    expect(await launch()).toMatchObject({ exitCode: 3 });
  });

  it("stops with 1 and the output of the step that failed, and tries it again the next time", async () => {
    await write(tools, { "pnpm.sh": "#!/bin/sh\necho the registry is away\nexit 7\n" });
    const failed = await launch();
    expect(failed).toMatchObject({ exitCode: 1, stdout: "" });
    expect(failed.stderr).toMatch(
      /the registry is away\nnightwriter: this step failed: .*pnpm install --frozen-lockfile/,
    );
    await write(join(checkout, ".nightwriter/pnpm-12.21.0/node_modules/.bin"), { pnpm: PNPM });
    expect(await launch()).toMatchObject({ exitCode: 0 });
  });

  it.for([
    { what: "no Node", hidden: "node", says: "node not found; install Node 20 or newer" },
    { what: "no npm", hidden: "npm", says: "npm not found; install the npm that belongs to Node" },
  ])("says in one line what to install where there is $what", async ({ hidden, says }) => {
    // A PATH with just the tools that the launcher itself uses, since the machine's has a Node.
    const path = join(folder, "path");
    await mkdir(path);
    for (const tool of ["dirname", "readlink", "sed", "cat", "cksum", "mkdir", "rm", "sh"]) {
      await symlink((await execa("sh", ["-c", `command -v ${tool}`])).stdout, join(path, tool));
    }
    for (const tool of ["node", "npm"]) if (tool !== hidden) await symlink(join(tools, tool), join(path, tool));
    const { exitCode, stderr } = await launch([], { env: { PATH: path } });
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(new RegExp(`^nightwriter: ${says} .*$`));
  });

  describe("where the pinned Node lacks libatomic", () => {
    beforeEach(async () => {
      // A Node that starts as soon as apt-get installed the library.
      const node = `#!/bin/sh\n[ -e "${folder}/libatomic1" ] || { echo "no libatomic.so.1" >&2; exit 127; }\nexec ${process.execPath} "$@"\n`;
      await write(folder, { "node-without-library": node });
      await write(tools, {
        "pnpm.sh": `#!/bin/sh\nmkdir -p node_modules/.bin\nln -sf "${folder}/node-without-library" node_modules/.bin/node\n`,
        "apt-get": `#!/bin/sh\nfor package; do :; done\n[ "$package" = update ] || touch "${folder}/$package"\n`,
      });
    });

    it("installs it as root, saying so", async () => {
      await write(tools, { id: "#!/bin/sh\necho 0\n" });
      const { exitCode, stdout, stderr } = await launch(["status"]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '["status"]' });
      expect(stderr).toContain("installing Debian's package with apt-get");
    });

    it("says what to install as anybody else", async () => {
      await write(tools, { id: "#!/bin/sh\necho 1000\n" });
      const { exitCode, stderr } = await launch(["status"]);
      expect(exitCode).toBe(1);
      expect(stderr).toContain("no libatomic.so.1; install it (apt-get install libatomic1)");
    });
  });

  it("says in one line that Node is too old", async () => {
    await write(tools, { node: "#!/bin/sh\necho v18.20.4\n" });
    const { exitCode, stderr } = await launch();
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: "nightwriter: Node v18.20.4 is too old; install Node 20 or newer (https://nodejs.org)",
    });
  });
});
