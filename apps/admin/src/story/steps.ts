/** Steps that scenes share, each with its row in the table. */
import { verify } from "@nightwriter/ledger";
import { databaseNow } from "@nightwriter/schedule";
import type { OrderedItem, WriteResult } from "./orders.ts";
import { readTotal } from "./restaurant.ts";
import { RUPEE, rupees } from "./rupees.ts";
import { LEASE_S, type SceneStage, TooSlow, type Verdict, verdict } from "./scene.ts";
import type { Writer } from "./writer-process.ts";

/** What is to be done when. */
interface Step {
  readonly second: number;
  readonly writer: Writer;
}

/** Takes the lease and a new token, as soon as the store grants it. Returns the token. */
export async function takes(stage: SceneStage, { second, writer }: Step, how = "takes the lease"): Promise<string> {
  await stage.clock.until(second);
  const { token } = await writer.ask("take", {});
  await stage.note({ second, who: writer.name, what: `${how}: ${LEASE_S} s`, token });
  return token;
}

/** Reads the total and means to add so many rupees to it. */
export async function reads(
  stage: SceneStage,
  { second, writer, add }: Step & { readonly add: bigint },
): Promise<{ readonly totalMinor: string; readonly meansMinor: string }> {
  await stage.clock.until(second);
  const read = await writer.ask("read", { addMinor: (add * RUPEE).toString() });
  const [total, means] = [rupees(BigInt(read.totalMinor)), rupees(BigInt(read.meansMinor))];
  await stage.note({
    second,
    who: writer.name,
    what: `reads ${total}, means to write ${means} (+${rupees(add * RUPEE)})`,
  });
  return read;
}

/**
 * Looks at its lease and finds it good, as it is if the machine keeps up. The end of its trust is exact, being counted from
 * its own request; so what is left at this second of the story is, whatever the machine was late by. Returns that.
 */
export async function checks(stage: SceneStage, { second, writer }: Step): Promise<string> {
  await stage.clock.until(second);
  const { leftMs, ttlMs } = await writer.ask("check", {});
  if (leftMs <= 0) throw new TooSlow(`${writer.name} looked at its lease when that had ended`);
  const left = `${tenths(inStory(stage, ttlMs) - second)} s left`;
  await stage.note({
    second,
    who: writer.name,
    what: `checks that it holds the lease: ${left}`,
    measuredLeftS: tenths(inStory(stage, leftMs)),
  });
  return left;
}

/** Milliseconds of ours as seconds of the story. */
function inStory({ clock }: SceneStage, ms: number): number {
  return (ms * clock.speed) / 1_000;
}

function tenths(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}

/** Nobody has renewed it: the store says that nobody has the lease, which `watcher` asks it. */
export async function leaseEnds(stage: SceneStage, second: number, watcher: Writer): Promise<void> {
  await stage.clock.until(second);
  await watcher.ask("seeFree", {});
  await stage.note({ second, who: "lease store", what: "the lease ends" });
}

/** Freezes the writer; what it does next is due while it is frozen, and lies in its input. */
export async function freezes(stage: SceneStage, { second, writer }: Step, seconds: number): Promise<void> {
  await stage.clock.until(second);
  await writer.freeze();
  await stage.note({ second, who: writer.name, what: `freezes for ${seconds} s (SIGSTOP), about to write` });
}

/** Applies an item with the shipped statement, and says how it came out. */
export async function applies(
  stage: SceneStage,
  { second, writer, item, again = false }: Step & { readonly item: OrderedItem; readonly again?: boolean },
): Promise<WriteResult> {
  await stage.clock.until(second);
  const result = await writer.apply(item).result;
  await notesWrite(stage, { second, writer, item, result, how: again ? "gets the item anew, " : "" });
  return result;
}

interface Written extends Step {
  readonly item: OrderedItem;
  readonly result: WriteResult;
  /** Before the outcome: `wakes, `. */
  readonly how?: string;
}

/** The row of a write. */
export async function notesWrite(
  stage: SceneStage,
  { second, writer, item, result, how = "" }: Written,
): Promise<void> {
  const amount = item === stage.two ? "+2,000" : "+3,000";
  await stage.note({ second, who: writer.name, ...rowOf(result, `${how}adds ${amount}`) });
}

function rowOf(result: WriteResult, what: string): { readonly what: string; readonly token?: string } {
  switch (result.outcome) {
    case "applied":
      return { what: `${what}: applied`, token: result.token };
    case "duplicate":
      return { what: `${what}: was applied before, 0 rows` };
    case "fenced":
      return { what: `${what}: refused, ${refusal(result)}`, token: result.token };
  }
}

/** `33 < 34, 0 rows`; whatever else came out says so. */
export function refusal(result: WriteResult): string {
  return result.outcome === "fenced" ? `${result.token} < ${result.storedToken}, 0 rows` : result.outcome;
}

/** Both writers think that they hold the lease, at the same moment. */
export async function bothHold(stage: SceneStage, writers: readonly Writer[]): Promise<Verdict> {
  const left = await Promise.all(writers.map((writer) => writer.ask("check", {})));
  if (left.some(({ leftMs }) => leftMs <= 0)) throw new TooSlow("one of two leases ended before both were looked at");
  const names = writers.map(({ name }) => name);
  return verdict("holders at the same time", "A and B", names.join(" and "));
}

/** What is the same at the end of every scene that is guarded: the total, and the proof from the sources. */
export async function endsExact(stage: SceneStage): Promise<Verdict[]> {
  return [
    verdict("final total", "45,000", rupees(await readTotal(stage.database, stage.job))),
    verdict("verify", "every rule holds, nothing outstanding", await verification(stage)),
  ];
}

/** What `verify` says, in one line. */
export async function verification({ database, job }: SceneStage): Promise<string> {
  const { clean, rules, outstandingSums } = await verify(database, job, { now: await databaseNow(database) });
  if (!clean) {
    const broken = rules.filter(({ status }) => status === "violated").map(({ rule }) => rule);
    return `violated: ${broken.join(", ")}`;
  }
  const left = outstandingSums.map(({ reason, pairCount }) => `${pairCount} ${reason}`);
  return `every rule holds, ${left.length === 0 ? "nothing" : left.join(", ")} outstanding`;
}
