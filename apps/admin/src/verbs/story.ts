/** The lesson, played: what a lease does not protect from, and what does. */
import { type Config, extendEnvironment, loadConfig } from "@nightwriter/config";
import { startPostgres } from "@nightwriter/services";
import { type Answer, answer } from "../answer.ts";
import { connectDatabase } from "../connect-database.ts";
import { watchInterrupt } from "../interrupt.ts";
import { openLogger } from "../open-logger.ts";
import { formatDuration } from "../output/format.ts";
import { leaseHome } from "../story/lease-home.ts";
import { type PlayedScene, playStory } from "../story/play-story.ts";
import { ensureRequirements } from "../story/requirements.ts";
import type { Letter } from "../story/scene-letters.ts";
import { scenes as allScenes } from "../story/scenes/index.ts";
import { storyText } from "../story/story-text.ts";
import type { Terminal } from "../terminal.ts";

export interface StoryVerbOptions {
  readonly speed: number;
  readonly scene?: readonly Letter[] | undefined;
}

/** Plays the scenes on databases of their own, and compares. What an operator has is not touched. */
export async function playLesson(terminal: Terminal, { speed, scene: letters }: StoryVerbOptions): Promise<Answer> {
  using interrupt = watchInterrupt();
  const beganMs = performance.now();
  const tell = (line: string): void =>
    terminal.note(`${formatDuration(performance.now() - beganMs).padStart(6)}  ${line}`);
  const scenes = allScenes.filter(({ letter }) => letters?.includes(letter) ?? true);
  const environment = extendEnvironment({});
  const configured = environment["LEASE_URL"] ?? "";
  const leaseUrl = configured === "" || configured === "none" ? undefined : configured;
  await ensureRequirements(scenes, { leasesConfigured: leaseUrl !== undefined, tell });
  await using opened = new AsyncDisposableStack();
  const serverUrl = await openServer(opened, terminal, tell);
  const leases = opened.use(leaseHome(leaseUrl));
  const played = await playStory({ scenes, speed, serverUrl, leases, signal: interrupt.signal, tell });
  return conclude(played, performance.now() - beganMs);
}

/** The server in DATABASE_URL, reached and fit, or one of the story's own. Returns its URL. */
async function openServer(
  opened: AsyncDisposableStack,
  terminal: Terminal,
  tell: (line: string) => void,
): Promise<string> {
  const isConfigured = (extendEnvironment({})["DATABASE_URL"] ?? "") !== "";
  if (!isConfigured) tell("starting PostgreSQL");
  const own = isConfigured ? undefined : opened.use(await startPostgres());
  const config: Config = loadConfig(extendEnvironment(own === undefined ? {} : { DATABASE_URL: own.url }));
  const logger = openLogger(terminal, config);
  const database = await connectDatabase({ config, verb: "story", logger, patient: true });
  await database.close();
  if (isConfigured) tell("making databases of its own on the server in DATABASE_URL; they are dropped at the end");
  return config.databaseUrl;
}

function conclude(played: readonly PlayedScene[], durationMs: number): Answer {
  return answer({
    inOrder: played.every(({ verdicts }) => verdicts.every(({ passed }) => passed)),
    document: {
      currency: "INR",
      scenes: played.map(({ scene: { letter, title, lesson }, ...rest }) => ({ letter, title, lesson, ...rest })),
      durationMs: Math.round(durationMs),
    },
    text: `\n${storyText(played)}\ntook ${formatDuration(durationMs)}`,
  });
}
