/** The two builds, each with a database of its own on the same servers. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { OlderBuild } from "@nightwriter/testkit/older-build";
import type { Servers } from "../machine.ts";
import type { MeasuredBuild } from "../programs/measured-build.ts";
import type { Scale } from "../scale.ts";
import { openServers } from "../servers.ts";
import { startMeasurer } from "./measured-build.ts";
import { measureImport } from "./measured-import.ts";

const todayRoot = resolve(import.meta.dirname, "../../..");

/** What is compared, each in something a second. */
export const comparedFigures = ["write", "planning", "night", "verify", "import"] as const;
export type ComparedFigure = (typeof comparedFigures)[number];

/** Does a figure's work once, and returns what a second brought. */
type Side = (figure: ComparedFigure) => Promise<number>;

export interface Sides extends AsyncDisposable {
  readonly servers: Servers;
  readonly today: Side;
  readonly earlier: Side;
}

export interface SidesOptions {
  readonly earlier: OlderBuild;
  readonly scale: Scale;
  readonly say: (line: string) => void;
}

/**
 * Starts the servers, has the earlier build make the history, and gives each build a copy of it, migrated to its own schema, and an
 * empty database for its imports. Throws a Fault where a build does not start.
 */
export async function openSides({ earlier, scale, say }: SidesOptions): Promise<Sides> {
  await using opened = new AsyncDisposableStack();
  say("servers");
  // Two copies of the data are to fit.
  const servers = opened.use(await openServers({ buffersMb: scale.buffersMb * 2 }));
  const folder = await mkdtemp(join(tmpdir(), "nightwriter-bench-"));
  opened.defer(async () => rm(folder, { recursive: true, force: true }));
  const { redisUrl } = servers;
  const historyUrl = await servers.create("history");
  await makeHistory({ root: earlier.root, databaseUrl: historyUrl, redisUrl, prefix: "history", scale }, say);
  const open = async (root: string, prefix: string): Promise<Side> => {
    const build = { root, prefix, redisUrl, scale };
    const databaseUrl = await servers.create(prefix, "history");
    const measurer = opened.use(await startMeasurer({ ...build, databaseUrl, daysUsed: scale.historyDays }));
    await measurer.measure("settle");
    const importsUrl = await servers.create(`${prefix}_imports`);
    await using _migrated = await startMeasurer({ ...build, databaseUrl: importsUrl, daysUsed: 0 });
    const importing = { root, databaseUrl: importsUrl, folder, lineCount: scale.importLineCount };
    let file = 0;
    return async (figure) => (figure === "import" ? measureImport(importing, file++) : measurer.measure(figure));
  };
  const sides = { earlier: await open(earlier.root, "earlier"), today: await open(todayRoot, "today") };
  const running = opened.move();
  return { servers: servers.versions, ...sides, [Symbol.asyncDispose]: async () => running.disposeAsync() };
}

type HistoryOptions = Omit<MeasuredBuild, "daysUsed" | "scale"> & { readonly scale: Scale };

async function makeHistory(build: HistoryOptions, say: SidesOptions["say"]): Promise<void> {
  const { historyDays } = build.scale;
  await using measurer = await startMeasurer({ ...build, daysUsed: 0 });
  await measurer.measure("restaurants");
  for (let night = 1; night <= historyDays; night++) {
    say(`history: night ${night} of ${historyDays}`);
    await measurer.measure("history");
  }
  await measurer.measure("settle");
}
