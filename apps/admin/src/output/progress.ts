/**
 * Progress on stderr: on a terminal a bar that is redrawn, elsewhere a plain line every few seconds, so that the log of a
 * pipeline stays readable.
 */
import { type Clock, systemClock } from "@nightwriter/core";
import { createLogUpdate } from "log-update";
import { canRedraw, type Terminal } from "../terminal.ts";
import { formatCount, formatDuration, formatRate } from "./format.ts";
import { rateMeter } from "./rate-meter.ts";

const REDRAW_EVERY_MS = 100;
const LINE_EVERY_MS = 5_000;
const BAR_WIDTH = 24;

export interface ProgressOptions {
  /** What is counted: `items applied`. */
  readonly label: string;
  readonly clock?: Clock;
}

export interface Progress {
  /** Notes where things are. `total` may still grow; undefined: not known. */
  update(done: number, total?: number): void;
  /** Leaves the last state standing. */
  stop(): void;
}

/** Starts to show progress. Nothing runs in the background: what is shown is the last `update`. */
export function startProgress(terminal: Terminal, { label, clock = systemClock }: ProgressOptions): Progress {
  const { stderr } = terminal;
  const rate = rateMeter();
  const bar = canRedraw(stderr) ? createLogUpdate(stderr) : undefined;
  const everyMs = bar === undefined ? LINE_EVERY_MS : REDRAW_EVERY_MS;
  let shownAtMs = clock.monotonicMs() - (bar === undefined ? 0 : everyMs);
  let last: ProgressState | undefined;
  let shown: ProgressState | undefined;
  const show = (state: ProgressState): void => {
    shown = state;
    if (bar === undefined) stderr.write(`${progressText(state)}\n`);
    else bar(`${progressBar(state)} ${progressText(state)}`);
  };
  if (bar !== undefined) {
    terminal.sendNotesTo((line) => {
      bar.persist(line);
      if (shown !== undefined) show(shown);
    });
  }
  return {
    update(done, total) {
      const nowMs = clock.monotonicMs();
      rate.add(done, nowMs);
      last = { label, done, total, perSecond: rate.perSecond() };
      if (nowMs - shownAtMs < everyMs) return;
      shownAtMs = nowMs;
      show(last);
    },
    stop() {
      // Without a terminal, what was too short for a first line needs no last one either.
      if (last !== undefined && last !== shown && (bar !== undefined || shown !== undefined)) show(last);
      bar?.done();
      terminal.sendNotesTo(undefined);
    },
  };
}

export interface ProgressState {
  readonly label: string;
  readonly done: number;
  readonly total: number | undefined;
  readonly perSecond: number | undefined;
}

/** `12,500 of 20,000 items applied, 4,700/s, 2 s left`. The estimate is left out where the rate says nothing. */
export function progressText({ label, done, total, perSecond }: ProgressState): string {
  const count = total === undefined ? formatCount(done) : `${formatCount(done)} of ${formatCount(total)}`;
  const parts = [`${count} ${label}`];
  if (perSecond !== undefined) parts.push(`${formatRate(perSecond)}/s`);
  if (perSecond !== undefined && perSecond > 0 && total !== undefined && total > done) {
    parts.push(`${formatDuration(((total - done) * 1_000) / perSecond)} left`);
  }
  return parts.join(", ");
}

function progressBar({ done, total }: ProgressState): string {
  const share = total === undefined || total === 0 ? 0 : Math.min(1, done / total);
  const filled = Math.floor(share * BAR_WIDTH);
  return `${"█".repeat(filled)}${"░".repeat(BAR_WIDTH - filled)} ${String(Math.floor(share * 100)).padStart(3)} %`;
}
