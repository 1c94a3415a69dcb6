import { randomBytes } from "node:crypto";
import { startRedis } from "@nightwriter/services";
import { type Scene, type SceneStage, TooSlow, verdict } from "../scene.ts";
import { applies, checks, endsExact, freezes, leaseEnds, notesWrite, refusal, takes } from "../steps.ts";
import type { Writer } from "../writer-process.ts";

const SERVERS = 5;

/** Five lock servers of which a majority must agree, and a holder that is paused. */
export const redlock: Scene = {
  letter: "g",
  title: "Redlock over five servers, and a holder that is paused",
  lesson: "More servers help with one that fails, not with a holder that sleeps: two act as holder again.",
  configuredLeases: false,
  needs: ["redis"],
  async play(stage) {
    const { clock, a, b } = stage;
    const url = await startVoters(stage);
    await Promise.all([a, b].map((writer) => stage.openLeases(writer, url)));
    stage.begin();
    const first = await takes(stage, { second: 0, writer: a });
    await checks(stage, { second: 8, writer: a });
    await freezes(stage, { second: 10, writer: a }, 45);
    const late = a.apply(stage.two);
    await leaseEnds(stage, 30, b);
    const second = await takes(stage, { second: 31, writer: b });
    await applies(stage, { second: 33, writer: b, item: stage.three });
    await renews(stage, { second: 41, writer: b });
    await renews(stage, { second: 51, writer: b });
    await clock.until(55);
    const { leftMs } = await b.ask("check", {});
    if (leftMs <= 0) throw new TooSlow("B's lease ended before A woke");
    a.thaw();
    const refused = await late.result;
    await notesWrite(stage, { second: 55, writer: a, item: stage.two, result: refused, how: "wakes, " });
    await applies(stage, { second: 56, writer: b, item: stage.two, again: true });
    return [
      verdict("tokens of A and B", "33, 34", `${first}, ${second}`),
      // A was about to write by its check at 8 s, and did: that is what acting as a holder means.
      verdict("act as holder at 55 s", "A and B", refused.outcome === "fenced" ? "A and B" : "B"),
      verdict("A's late write", "33 < 34, 0 rows", refusal(refused)),
      ...(await endsExact(stage)),
    ];
  },
};

async function renews(stage: SceneStage, { second, writer }: { second: number; writer: Writer }): Promise<void> {
  await stage.clock.until(second);
  const { leftMs } = await writer.ask("renew", {});
  if (leftMs <= 0) throw new TooSlow(`${writer.name} renewed its lease after that had ended`);
  await stage.note({ second, who: writer.name, what: "renews its lease" });
}

/** Servers that know nothing of each other, with one password, since a URL has room for one. */
async function startVoters({ props }: SceneStage): Promise<string> {
  const password = randomBytes(16).toString("hex");
  const servers = await Promise.all(
    Array.from({ length: SERVERS }, async () => props.use(await startRedis({ password }))),
  );
  return `redis+redlock://default:${password}@${servers.map(({ port }) => `127.0.0.1:${port}`).join(",")}`;
}
