/** A whole night on servers of its own, and the proof that it ended well. */
import { type Answer, answer } from "../answer.ts";
import { type Check, checkPlayed } from "../demo/checks.ts";
import { type Played, play } from "../demo/play.ts";
import { type StageOptions, setStage } from "../demo/stage.ts";
import { watchInterrupt } from "../interrupt.ts";
import { statusDocument } from "../nights/status-document.ts";
import { formatDuration, plural } from "../output/format.ts";
import { renderTable } from "../output/table.ts";
import type { Terminal } from "../terminal.ts";

/** Plays the night and proves it. Nothing is left running or lying around, however it ends. */
export async function runDemo(terminal: Terminal, options: StageOptions): Promise<Answer> {
  using interrupt = watchInterrupt();
  const beganMs = performance.now();
  const tell = (line: string): void =>
    terminal.note(`${formatDuration(performance.now() - beganMs).padStart(6)}  ${line}`);
  tell(`starting PostgreSQL${options.redis ? ", Redis" : ""}, a scheduler and ${plural(options.workers, "worker")}`);
  await using stage = await setStage(terminal, options);
  const signal = AbortSignal.any([interrupt.signal, stage.signal]);
  signal.throwIfAborted();
  const played = await play({ terminal, stage, restaurants: options.restaurants, tell, signal });
  const checks = await checkPlayed(stage.installation, played);
  return conclude(played, checks, performance.now() - beganMs);
}

function conclude(played: Played, checks: readonly Check[], durationMs: number): Answer {
  const rows = checks.map(({ name, passed, finding }) => [passed ? "ok" : "WRONG", name, finding]);
  return answer({
    inOrder: checks.every(({ passed }) => passed),
    document: {
      sales: played.sold.sales,
      refunds: played.sold.refunds,
      lateSales: played.late.sales,
      killed: played.struck && { worker: played.struck.worker, appliedByThen: played.struck.applied },
      night: statusDocument(played.night),
      rerun: statusDocument(played.rerun),
      checks,
      durationMs: Math.round(durationMs),
    },
    text: `\n${renderTable([{ title: "" }, { title: "what" }, { title: "finding" }], rows)}\n\ntook ${formatDuration(durationMs)}`,
  });
}
