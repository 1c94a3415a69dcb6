/** A writer as the story's director sees it: a process to give orders to, to freeze, and to let go on. */
import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Fault, toJson } from "@nightwriter/core";
import { type GuardedProcess, startGuarded } from "@nightwriter/services";
import { execa } from "execa";
import type { AnswerLine, OrderedItem, OrderName, Orders, WriteResult } from "./orders.ts";

const ENTRY = fileURLToPath(new URL("./writer.ts", import.meta.url));
const FROZEN_WITHIN_MS = 10_000;

/** A write that is under way. */
export interface Writing {
  /** Resolves when it has left the process, with how long its lease was trusted then. */
  readonly sent: Promise<number>;
  readonly result: Promise<WriteResult>;
}

export interface Writer extends AsyncDisposable {
  readonly name: string;
  /** Gives an order and waits for its answer. Throws a Fault if it cannot be carried out, or the process ends. */
  ask<Name extends OrderName>(order: Name, asks: Orders[Name]["asks"]): Promise<Orders[Name]["answers"]>;
  /** Begins to apply an item under the writer's own term. */
  apply(item: OrderedItem): Writing;
  /** Stops the process (SIGSTOP) and returns when the kernel says that it is. Orders wait in its input from then on. */
  freeze(): Promise<void>;
  /** Lets it go on where it was (SIGCONT). */
  thaw(): void;
}

interface Pending {
  readonly sent: PromiseWithResolvers<number>;
  readonly answer: PromiseWithResolvers<unknown>;
}

/** Starts a writer. It ends with this process, frozen or not. */
export async function startWriter(name: string, environment: Readonly<Record<string, string>>): Promise<Writer> {
  const pending = new Map<number, Pending>();
  let lastId = 0;
  const child = await startGuarded({
    file: process.execPath,
    args: [ENTRY, name],
    environment,
    keepInput: true,
    log: (line, from) => {
      if (from === "stdout" && line.startsWith("{")) settle(pending, JSON.parse(line) as AnswerLine);
    },
  });
  const failAll = (): void => {
    for (const each of pending.values()) fail(each, endedByItself(name, child));
  };
  void child.closed.then(failAll);
  const begin = (order: OrderName, asks: object): { sent: Promise<number>; answer: Promise<unknown> } => {
    const each: Pending = { sent: Promise.withResolvers(), answer: Promise.withResolvers() };
    // An order that fails while nobody waits for it is told to whoever waits for it later.
    for (const { promise } of [each.sent, each.answer]) promise.catch(() => undefined);
    lastId += 1;
    pending.set(lastId, each);
    if (child.exit() !== undefined) fail(each, endedByItself(name, child));
    child.write(`${toJson({ id: lastId, order, asks }, 0)}\n`);
    return { sent: each.sent.promise, answer: each.answer.promise };
  };
  return {
    name,
    ask: async (order, asks) => (await begin(order, asks).answer) as Orders[typeof order]["answers"],
    apply: (item) => {
      const { sent, answer } = begin("apply", item);
      return { sent, result: answer as Promise<WriteResult> };
    },
    async freeze() {
      child.signal("SIGSTOP");
      const deadline = performance.now() + FROZEN_WITHIN_MS;
      while (!(await isStopped(child.pid))) {
        if (performance.now() > deadline) throw new Fault("writer_failed", `writer ${name}: could not be frozen`);
        await setTimeout(1);
      }
    },
    thaw: () => child.signal("SIGCONT"),
    [Symbol.asyncDispose]: async () => child.end(["SIGKILL"]),
  };
}

function settle(pending: Map<number, Pending>, line: AnswerLine): void {
  const order = pending.get(line.id);
  if (order === undefined) return;
  if ("sent" in line) return order.sent.resolve(line.leftMs);
  pending.delete(line.id);
  if ("error" in line) fail(order, new Fault("writer_failed", line.error));
  else order.answer.resolve(line.answer);
}

function fail({ sent, answer }: Pending, fault: Fault): void {
  sent.reject(fault);
  answer.reject(fault);
}

function endedByItself(name: string, { tail }: GuardedProcess): Fault {
  return new Fault("writer_failed", [`writer ${name}: ended by itself; its last lines:`, ...tail()].join("\n"));
}

/** Whether the kernel has stopped the process: T in its state. */
async function isStopped(pid: number): Promise<boolean> {
  if (process.platform !== "linux") {
    return (await execa("ps", ["-o", "state=", "-p", String(pid)], { reject: false })).stdout.startsWith("T");
  }
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).startsWith("T");
}
