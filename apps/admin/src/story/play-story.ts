/**
 * Plays scenes: each on a database of its own, a copy of the one that was prepared, by two writers that are processes.
 *
 * Events wait for each other, in the order of the story; the clock only paces them. Only one thing can still go wrong with
 * a machine that is too busy: that a lease ends in the middle of what takes no time in the story. Then the scene is played
 * again, at half the speed.
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@nightwriter/database";
import { registerJob } from "@nightwriter/job";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import type { LeaseHome } from "./lease-home.ts";
import { type Prepared, prepare } from "./prepare.ts";
import { readTotal } from "./restaurant.ts";
import { LEASE_S, type PlayedEvent, type Scene, type SceneStage, TooSlow, type Verdict } from "./scene.ts";
import { storyClock } from "./story-clock.ts";
import { type TemporaryDatabase, type TemporaryDatabases, temporaryDatabases } from "./temporary-databases.ts";
import { startWriter, type Writer } from "./writer-process.ts";

const TRIES = 4;

export interface StoryOptions {
  readonly scenes: readonly Scene[];
  /** How many seconds of the story pass in one of ours. */
  readonly speed: number;
  /** The server on which the databases are made. */
  readonly serverUrl: string;
  readonly leases: LeaseHome;
  readonly signal: AbortSignal;
  /** Hears of each scene and each event as it happens. */
  readonly tell: (line: string) => void;
}

export interface PlayedScene {
  readonly scene: Scene;
  /** The speed at which it came off. */
  readonly speed: number;
  readonly events: readonly PlayedEvent[];
  readonly verdicts: readonly Verdict[];
}

/** Plays the scenes one after another. Nothing is left running, and no database, when it returns or throws. */
export async function playStory(options: StoryOptions): Promise<PlayedScene[]> {
  await using databases = temporaryDatabases(options.serverUrl);
  await using cast = new AsyncDisposableStack();
  const [a, b] = await Promise.all(
    ["A", "B"].map(async (name) => cast.use(await startWriter(name, { LOG_LEVEL: "silent" }))),
  );
  if (a === undefined || b === undefined) throw new Error("unreachable: both writers were started");
  // Nobody waits for a writer that has ended: so the scene is over when both have.
  options.signal.addEventListener("abort", () => void cast.disposeAsync(), { once: true });
  options.signal.throwIfAborted();
  const template = await databases.create();
  const prepared = await prepareTemplate(template);
  const theatre = { options, databases, template, prepared, a, b };
  const played: PlayedScene[] = [];
  for (const scene of options.scenes) played.push(await untilPlayed(theatre, scene));
  return played;
}

interface Theatre {
  readonly options: StoryOptions;
  readonly databases: TemporaryDatabases;
  readonly template: TemporaryDatabase;
  readonly prepared: Prepared;
  readonly a: Writer;
  readonly b: Writer;
}

async function prepareTemplate({ url }: TemporaryDatabase): Promise<Prepared> {
  const folder = await mkdtemp(join(tmpdir(), "nightwriter-story-"));
  try {
    await using database = openDatabase({ url, applicationName: "nightwriter story", statementTimeoutMs: 0 });
    return await prepare(database, folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function untilPlayed(theatre: Theatre, scene: Scene): Promise<PlayedScene> {
  const { options } = theatre;
  const slowest = scene.configuredLeases && options.leases.shortestMs > 0;
  const limit = slowest ? (LEASE_S * 1_000) / options.leases.shortestMs : Number.POSITIVE_INFINITY;
  let speed = Math.min(options.speed, limit);
  for (let tries = 1; ; tries++) {
    options.tell(`scene ${scene.letter}: ${scene.title}`);
    try {
      return await playScene(theatre, scene, speed);
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof TooSlow) || tries === TRIES) throw error;
      speed /= 2;
      options.tell(`once more at speed ${speed}: ${error.message}`);
    }
  }
}

async function playScene(theatre: Theatre, scene: Scene, speed: number): Promise<PlayedScene> {
  const { options, databases, prepared, a, b } = theatre;
  const { url } = await databases.create(theatre.template);
  await using props = new AsyncDisposableStack();
  const database = props.use(openDatabase({ url, applicationName: "nightwriter story", statementTimeoutMs: 0 }));
  const job = await registerJob(database, restaurantTotals);
  const writers = [a, b];
  await Promise.all(writers.map((writer) => writer.ask("enter", { databaseUrl: url })));
  props.defer(async () => void (await Promise.all(writers.map((writer) => dismiss(writer)))));
  const clock = storyClock(speed, options.signal);
  const events: PlayedEvent[] = [];
  const prefix = `story_${randomBytes(6).toString("hex")}`;
  const stage: SceneStage = {
    clock,
    a,
    b,
    database,
    databaseUrl: url,
    job,
    ...prepared,
    props,
    signal: options.signal,
    leaseUrl: () => options.leases.urlFor(url),
    openLeases: async (writer, leaseUrl) => {
      await writer.ask("openLeases", { url: leaseUrl, prefix, ttlMs: Math.round(clock.toMs(LEASE_S)) });
    },
    begin: () => clock.start(),
    async note(event) {
      const playedAtSecond = Math.round(clock.seconds() * 100) / 100;
      events.push({ ...event, totalMinor: await readTotal(database, job), playedAtSecond });
      options.tell(`  t=${event.second}  ${event.who}  ${event.what}`);
    },
  };
  return { scene, speed, verdicts: await scene.play(stage), events };
}

/** Wakes a writer that a scene has left frozen, and has it close what it opened. */
async function dismiss(writer: Writer): Promise<void> {
  writer.thaw();
  await writer.ask("leave", {}).catch(() => undefined);
}
