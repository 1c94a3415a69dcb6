/** etcd and ZooKeeper servers of one's own. `--quick` leaves them out, so as not to need either. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ensureServer, startEtcd, startGuarded, startZookeeper } from "@nightwriter/services";
import { beforeAll, describe, expect, it } from "vitest";

const startServer = { etcd: startEtcd, zookeeper: startZookeeper };
const servers = ["etcd", "zookeeper"] as const;

beforeAll(async () => {
  for (const server of servers) await ensureServer(server);
}, 240_000);

/** Addresses that the process listens on, as the kernel writes them: in hexadecimal, bytes reversed. */
async function listening(pid: number): Promise<string[]> {
  const tables = await Promise.all(["tcp", "tcp6"].map(async (table) => readFile(`/proc/${pid}/net/${table}`, "utf8")));
  const { stdout } = await lines("/usr/bin/find", [`/proc/${pid}/fd`, "-lname", "socket:*", "-printf", "%l\\n"]);
  return tables
    .flatMap((table) => table.split("\n").slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === "0A" && stdout.includes(`socket:[${inode}]`))
    .flatMap(([, address]) => address?.split(":")[0] ?? []);
}

async function lines(file: string, args: readonly string[]): Promise<{ stdout: readonly string[] }> {
  await using program = await startGuarded({ file, args });
  await program.closed;
  return { stdout: program.tail() };
}

describe.each(servers)("a server of one's own: %s", (name) => {
  it("listens on loopback alone, and takes its temporary folder with it", async () => {
    const server = await startServer[name]();
    const addresses = await listening(server.pid);
    expect(addresses.length).toBeGreaterThan(0);
    // 127.0.0.1, as such and as an IPv6 address.
    expect(addresses.filter((address) => !/^(0{16}FFFF0000)?0100007F$/.test(address))).toEqual([]);
    await server.stop();
    expect(existsSync(server.dir)).toBe(false);
    expect(existsSync(`/proc/${server.pid}/cwd`)).toBe(false);
  });

  it("ends by SIGKILL and says so", async () => {
    await using server = await startServer[name]();
    await server.kill();
    expect(await server.exited).toEqual({ code: null, signal: "SIGKILL" });
  });
});

describe("startEtcd, startZookeeper", () => {
  it("show the server's own words when it does not start", async () => {
    const fault = { code: "did-not-start" };
    await expect(startEtcd({ args: ["--nonsense"] })).rejects.toMatchObject({
      ...fault,
      message: expect.stringContaining("nonsense"),
    });
    await expect(startZookeeper({ settings: { tickTime: "nonsense" } })).rejects.toMatchObject({
      ...fault,
      message: expect.stringContaining("nonsense"),
    });
  });
});

describe("ensureServer", () => {
  it("finds etcd and ZooKeeper where they are, and installs nothing twice", async () => {
    const said: string[] = [];
    for (const server of servers) expect(existsSync(await ensureServer(server, (line) => said.push(line)))).toBe(true);
    expect(said).toEqual([]);
  });

  it("says what to install, in one line, where it cannot", async () => {
    await using asked = await startGuarded({
      file: process.execPath,
      args: [join(import.meta.dirname, "programs/without-lease-servers.ts")],
      environment: { PATH: "/nowhere" },
      onlyEnvironment: true,
    });
    await asked.closed;
    const etcd = "etcd: not found on PATH; install it (apt-get install etcd-server, brew install etcd)";
    const zookeeper = /^ZooKeeper: no java on PATH or no .*; install both \(apt-get install libzookeeper-java /;
    expect(asked.tail().map((line) => JSON.parse(line) as unknown)).toEqual([
      { code: "binaries-missing", message: etcd },
      { code: "binaries-missing", message: etcd },
      { code: "binaries-missing", message: expect.stringMatching(zookeeper) },
      { code: "binaries-missing", message: expect.stringMatching(zookeeper) },
    ]);
  });
});
