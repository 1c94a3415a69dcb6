/** What a scene of the story is: who does what at which second, and what must have come out. */
import { Fault } from "@nightwriter/core";
import type { Database } from "@nightwriter/database";
import type { Job } from "@nightwriter/job";
import type { OrderedItem } from "./orders.ts";
import type { Letter } from "./scene-letters.ts";
import type { StoryClock } from "./story-clock.ts";
import type { Writer } from "./writer-process.ts";

/** How long a lease lasts in the story, in its seconds. */
export const LEASE_S = 30;

/** What one row of a scene's table says. */
export interface StoryEvent {
  /** The second at which it happens, as written. */
  readonly second: number;
  readonly who: string;
  readonly what: string;
  readonly token?: string | undefined;
  /** What was left of a lease when it was looked at, measured, in seconds of the story. */
  readonly measuredLeftS?: number;
}

export interface PlayedEvent extends StoryEvent {
  /** The total then, in minor units. */
  readonly totalMinor: bigint;
  /** The second at which it was over, measured: a busy machine is late. */
  readonly playedAtSecond: number;
}

/** One thing that was predicted, and what came out. Both are written alike: the same text is the same thing. */
export interface Verdict {
  readonly name: string;
  readonly predicted: string;
  readonly found: string;
  readonly passed: boolean;
}

/** A scene's stage: a database in which restaurant 77 has 40,000 and two items due, and two writers who have entered it. */
export interface SceneStage {
  readonly clock: StoryClock;
  readonly a: Writer;
  readonly b: Writer;
  readonly database: Database;
  readonly databaseUrl: string;
  readonly job: Job;
  /** The items of +2,000 and +3,000. */
  readonly two: OrderedItem;
  readonly three: OrderedItem;
  /** Ends with the scene. */
  readonly props: AsyncDisposableStack;
  readonly signal: AbortSignal;
  /** Where leases live in scenes that need no store of their own. */
  leaseUrl(): Promise<string>;
  /** Opens this store for a writer. */
  openLeases(writer: Writer, url: string): Promise<void>;
  /** Writes a row of the table. */
  note(event: StoryEvent): Promise<void>;
  /** Runs the clock from 0. */
  begin(): void;
}

/** What a scene needs on the machine. */
export type Need = "redis" | "faketime";

export interface Scene {
  readonly letter: Letter;
  readonly title: string;
  /** What it shows, in one sentence. */
  readonly lesson: string;
  /** Whether it leaves its leases where the installation has them. */
  readonly configuredLeases: boolean;
  readonly needs: readonly Need[];
  play(stage: SceneStage): Promise<Verdict[]>;
}

export function verdict(name: string, predicted: string, found: string): Verdict {
  return { name, predicted, found, passed: predicted === found };
}

/** The machine was too slow for the speed: something that takes no time in the story took longer than a lease. */
export class TooSlow extends Fault<"story_too_slow"> {
  override readonly name = "TooSlow";

  constructor(what: string) {
    super("story_too_slow", `this machine is too busy for this speed: ${what}; try a lower --speed`, {
      retryable: true,
    });
  }
}
