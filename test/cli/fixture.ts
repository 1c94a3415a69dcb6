/** The command line as a process: its words, what it printed where, and how it ended. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Database } from "@nightwriter/database";
import { type App, type QueueStore, spawnApp, testDatabase, testQueue } from "@nightwriter/testkit";
import { execa } from "execa";

const ROOT = join(import.meta.dirname, "../..");
export const ENTRY = "apps/admin/src/main.ts";

export interface Ran {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

type Environment = Readonly<Record<string, string>>;

/** Of the machine's settings, those without which nothing runs, and one that saves the compiler work. */
const { PATH, NODE_COMPILE_CACHE } = process.env;

/** Runs `nightwriter ARGS` to its end, with these settings and none of the machine's; with nothing on standard input unless told. */
export async function nightwriter(args: readonly string[], settings: Environment = {}, input?: string): Promise<Ran> {
  const { exitCode, stdout, stderr } = await execa(process.execPath, [ENTRY, ...args], {
    cwd: ROOT,
    env: { PATH, NODE_COMPILE_CACHE, ...settings },
    extendEnv: false,
    ...(input === undefined ? { stdin: "ignore" } : { input }),
    reject: false,
    timeout: 250_000,
  });
  return { code: exitCode, stdout, stderr };
}

/** The one document that the verb printed. Throws where stdout is anything else. */
export function documentOf({ stdout }: Ran): unknown {
  return JSON.parse(stdout);
}

export interface Installation extends AsyncDisposable {
  readonly database: Database;
  readonly settings: Environment;
  /** Runs a verb on it. */
  readonly run: (...args: readonly string[]) => Promise<Ran>;
  /** Writes a file and returns its path. */
  readonly file: (name: string, content: string) => Promise<string>;
  /** Starts a worker and waits until it consumes. Ended with the installation. */
  readonly startWorker: () => Promise<App>;
}

/** A migrated database without data, and a queue; with more settings than where these are. */
export async function installation(store: QueueStore = "postgres", more: Environment = {}): Promise<Installation> {
  await using made = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "nightwriter-cli-"));
  made.defer(() => rm(folder, { recursive: true }));
  const test = made.use(await testDatabase());
  const queue = made.use(await testQueue(store));
  const settings = { DATABASE_URL: test.url, QUEUE_URL: queue.url, QUEUE_PREFIX: queue.prefix, ...more };
  const running = made.move();
  return {
    database: test.database,
    settings,
    run: (...args) => nightwriter(args, settings),
    async file(name, content) {
      const path = join(folder, name);
      await writeFile(path, content);
      return path;
    },
    async startWorker() {
      const worker = running.use(await spawnApp("apps/worker/src/main.ts", { ...settings, WORKER_NAME: "cli-test" }));
      await worker.waitForLog(({ msg }) => msg === "worker ready", 50_000);
      return worker;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Sales of two restaurants in two currencies; Tokyo's yen have no decimals. */
export const soho = `date,amount
2026-03-14 12:00,10.50
2026-03-14 19:30,-0.50
2026-03-15 20:00,7.25
`;
const ginza = `Outlet;Sold at;Yen
Ginza;14.03.2026 21:10;1.200
`;

/** Records both files. */
export async function importBoth({ run, file }: Installation): Promise<void> {
  const sohoOptions = ["--restaurant", "Soho", "--zone", "Europe/London", "--currency", "GBP"];
  const ginzaOptions = [
    "--restaurant-column",
    "outlet",
    "--date-column",
    "sold at",
    "--date-format",
    "dd.MM.yyyy HH:mm",
  ];
  const yen = [
    "--amount-column",
    "yen",
    "--decimal-comma",
    "--delimiter",
    ";",
    "--zone",
    "Asia/Tokyo",
    "--currency",
    "JPY",
    "--create",
  ];
  const ran = [
    await run("import", await file("soho.csv", soho), ...sohoOptions),
    await run("import", await file("ginza.csv", ginza), ...ginzaOptions, ...yen),
  ];
  const failed = ran.find(({ code }) => code !== 0);
  if (failed !== undefined) throw new Error(`import ended with ${failed.code}: ${failed.stderr}`);
}
