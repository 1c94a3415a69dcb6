import { cp, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";

/** What the build of a Dockerfile leaves: a file system as a folder, and how a container of it starts. */
export type Image = {
  folder: string;
  workdir: string;
  env: Record<string, string>;
  user: string;
  entrypoint: string[];
};

/**
 * Carries out a Dockerfile without an engine and returns its last stage: each stage is a folder in `scratch`, `COPY`
 * copies into it, `RUN` runs in it with this machine's Node and npm in place of the base image's. It proves the steps,
 * not the base image. It knows the instructions that ours uses and refuses any other.
 *
 * `context` is the folder that `COPY` copies from, clean of what .dockerignore names.
 */
export async function buildImage(
  dockerfile: string,
  { context, scratch }: { context: string; scratch: string },
): Promise<Image> {
  const stages = new Map<string, Image>();
  let image = newImage(scratch);
  for (const { instruction, rest } of await readInstructions(dockerfile)) {
    if (instruction === "FROM") {
      const name = / AS (\w+)$/.exec(rest)?.[1] ?? "image";
      image = newImage(join(scratch, name));
      stages.set(name, image);
    } else if (instruction === "COPY") {
      await copy(rest, { image, stages, context });
    } else if (instruction === "RUN") {
      await run(rest, image);
    } else {
      image = { ...image, ...configure(instruction, rest, image) };
    }
  }
  return image;
}

function newImage(folder: string): Image {
  return { folder, workdir: "/", env: {}, user: "root", entrypoint: [] };
}

async function readInstructions(dockerfile: string): Promise<{ instruction: string; rest: string }[]> {
  const lines = (await readFile(dockerfile, "utf8")).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.map((line) => {
    const [, instruction = "", rest = ""] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    return { instruction, rest };
  });
}

type CopyFrom = { image: Image; stages: ReadonlyMap<string, Image>; context: string };

async function copy(rest: string, { image, stages, context }: CopyFrom): Promise<void> {
  const [, stage, source = "", target = ""] = /^(?:--from=(\w+) )?(\S+) (\S+)$/.exec(rest) ?? [];
  const from = join(stage === undefined ? context : folderOf(stages, stage), source);
  const to = join(image.folder, image.workdir, target);
  const isFile = !source.endsWith("/") && source !== ".";
  await cp(from, isFile ? join(to, source) : to, { recursive: true, verbatimSymlinks: true });
}

function folderOf(stages: ReadonlyMap<string, Image>, name: string): string {
  const stage = stages.get(name);
  if (stage === undefined) throw new Error(`COPY --from=${name}: no such stage`);
  return stage.folder;
}

async function run(command: string, image: Image): Promise<void> {
  const cwd = join(image.folder, image.workdir);
  const prefix = join(image.folder, "usr/local");
  await mkdir(cwd, { recursive: true });
  const PATH = `${prefix}/bin:/usr/local/bin:/usr/bin:/bin`;
  await execa("sh", ["-c", command], { cwd, env: { ...image.env, PATH, npm_config_prefix: prefix }, all: true });
}

function configure(instruction: string, rest: string, image: Image): Partial<Image> {
  switch (instruction) {
    case "ENV": {
      const [name = "", value = ""] = rest.split("=");
      return { env: { ...image.env, [name]: value } };
    }
    case "WORKDIR":
      return { workdir: rest };
    case "USER":
      return { user: rest };
    case "ENTRYPOINT":
      return { entrypoint: JSON.parse(rest) as string[] };
    case "EXPOSE":
    case "CMD":
      return {};
    default:
      throw new Error(`${instruction} ${rest}: an instruction that this build does not know`);
  }
}
