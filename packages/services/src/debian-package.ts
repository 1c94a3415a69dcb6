/** Installs Debian packages for their programs alone: no service is started, none is left enabled, no cluster is made. */

import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { execa } from "execa";
import { ServicesFault } from "./fault.ts";

const INSTALL_WITHIN_MS = 600_000;

/** Asked by Debian's maintainer scripts before they start a service; 101 means no. */
const POLICY = { path: "/usr/sbin/policy-rc.d", content: "#!/bin/sh\nexit 101\n", mode: 0o755 };

/** Keeps postgresql-15 from making a cluster `main` that would start with the machine. */
const NO_MAIN_CLUSTER = {
  path: "/etc/postgresql-common/createcluster.d/nightwriter.conf",
  content: "create_main_cluster = false\n",
  mode: 0o644,
};

export interface DebianPackages {
  readonly names: readonly string[];
  /** The service that comes with them, if one does. */
  readonly service?: string;
}

export async function installDebianPackages({ names, service }: DebianPackages): Promise<void> {
  const made = [await placeFile(POLICY), await placeFile(NO_MAIN_CLUSTER)];
  try {
    await aptGet(["update"]);
    await aptGet(["install", "--yes", "--no-install-recommends", ...names]);
  } finally {
    // Both files are for this one install: what the owner of the machine installs later shall behave as ever.
    for (const path of made) if (path !== undefined) await rm(path, { force: true });
  }
  if (service === undefined) return;
  // Disabling writes links and needs no systemd that runs, in a container say; `--now` would, and then do neither.
  await execa("systemctl", ["disable", service], { reject: false });
  await execa("systemctl", ["stop", service], { reject: false });
}

/** Makes the file unless there is one; its path if it was made here. */
async function placeFile(file: typeof POLICY): Promise<string | undefined> {
  await mkdir(dirname(file.path), { recursive: true });
  try {
    await writeFile(file.path, file.content, { mode: file.mode, flag: "wx" });
    return file.path;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return undefined;
    throw error;
  }
}

async function aptGet(args: readonly string[]): Promise<void> {
  const { failed, all } = await execa("apt-get", ["-q", "-o", "DPkg::Lock::Timeout=120", ...args], {
    env: { DEBIAN_FRONTEND: "noninteractive" },
    stdin: "ignore",
    all: true,
    timeout: INSTALL_WITHIN_MS,
    reject: false,
  });
  if (!failed) return;
  throw new ServicesFault(
    "install-failed",
    `apt-get ${args.join(" ")}: failed;\n${all.split("\n").slice(-20).join("\n")}`,
  );
}
