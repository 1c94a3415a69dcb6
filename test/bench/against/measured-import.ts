/** Importing a file with a build's own command line, as a whole process. */
import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "@nightwriter/core";
import { execa } from "execa";

export interface ImportingBuild {
  readonly root: string;
  readonly databaseUrl: string;
  /** Where the file is made, and removed again. */
  readonly folder: string;
  readonly lineCount: number;
}

const columns = ["--restaurant-column", "city", "--date-column", "date", "--date-format", "dd/MM/yyyy HH:mm"];
const amounts = ["--amount-column", "amount", "--zone", "Europe/London", "--currency", "GBP"];

/** Imports a file that the database has never seen, and returns lines a second, the start of the process included. */
export async function measureImport(build: ImportingBuild, number: number): Promise<number> {
  const file = join(build.folder, `sales-${number}.csv`);
  await writeSales(file, build.lineCount, number);
  try {
    return await imported(build, file);
  } finally {
    await rm(file);
  }
}

async function imported({ root, databaseUrl, lineCount }: ImportingBuild, file: string): Promise<number> {
  const startMs = performance.now();
  const { exitCode, stderr } = await execa(
    process.execPath,
    ["apps/admin/src/main.ts", "import", file, ...columns, ...amounts, "--json"],
    { cwd: root, env: { DATABASE_URL: databaseUrl, NODE_ENV: "production" }, reject: false },
  );
  if (exitCode === 0) return (lineCount * 1_000) / (performance.now() - startMs);
  throw new Fault("build_not_measured", `build ${root}: its import ended with ${exitCode}; it said\n${stderr}`);
}

/** Every line is another one, in every file: nothing of it looks like what was imported before. */
async function writeSales(file: string, lineCount: number, number: number): Promise<void> {
  await using handle = await open(file, "w");
  await handle.write("invoice,date,amount,city\n");
  const two = (value: number): string => String(value).padStart(2, "0");
  for (let start = 0; start < lineCount; start += 10_000) {
    let text = "";
    for (let line = start; line < Math.min(start + 10_000, lineCount); line++) {
      const date = `${two(1 + (line % 28))}/${two(1 + (number % 12))}/${2000 + number}`;
      text += `${number}-${line},${date} ${two(4 + (line % 20))}:${two(line % 60)},${1 + (line % 97)}.${two(line % 89)},R${line % 500}\n`;
    }
    await handle.write(text);
  }
}
