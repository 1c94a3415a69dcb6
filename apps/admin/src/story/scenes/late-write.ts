import { setImmediate } from "node:timers/promises";
import { startTcpProxy, type TcpProxy } from "@nightwriter/services";
import { type Scene, TooSlow, verdict } from "../scene.ts";
import { applies, checks, endsExact, leaseEnds, notesWrite, refusal, takes } from "../steps.ts";

const POSTGRES_PORT = 5432;

/** Nobody is frozen: a write is sent in time, and the network keeps it. */
export const lateWrite: Scene = {
  letter: "e",
  title: "a write that is sent in time and arrives late",
  lesson: "No check at the sender helps against a slow way: only where the write arrives can be seen that it is late.",
  configuredLeases: true,
  needs: ["redis"],
  async play(stage) {
    const { clock, a, b, props, databaseUrl } = stage;
    const { hostname, port } = new URL(databaseUrl);
    const way = props.use(await startTcpProxy({ host: hostname, port: Number(port || POSTGRES_PORT) }));
    await a.ask("leave", {});
    await a.ask("enter", { databaseUrl: way.urlFor(databaseUrl) });
    const url = await stage.leaseUrl();
    await Promise.all([a, b].map((writer) => stage.openLeases(writer, url)));
    stage.begin();
    const first = await takes(stage, { second: 0, writer: a });
    const left = await checks(stage, { second: 20, writer: a });
    way.hold();
    const late = a.apply(stage.two);
    if ((await late.sent) <= 0) throw new TooSlow("A sent its write after its lease");
    await stage.note({ second: 20, who: "A", what: "sends its +2,000; the network keeps it", token: first });
    await leaseEnds(stage, 30, b);
    const second = await takes(stage, { second: 31, writer: b });
    await applies(stage, { second: 33, writer: b, item: stage.three });
    await clock.until(40);
    const waited = await resumes(way);
    const refused = await late.result;
    await notesWrite(stage, { second: 40, writer: a, item: stage.two, result: refused, how: "its write arrives, " });
    await applies(stage, { second: 41, writer: b, item: stage.two, again: true });
    return [
      verdict("tokens of A and B", "33, 34", `${first}, ${second}`),
      verdict("A's lease when it sends", "10 s left", left),
      verdict("what the network had kept", "a whole statement", describe(waited)),
      verdict("A's write, 10 s after its lease", "33 < 34, 0 rows", refusal(refused)),
      ...(await endsExact(stage)),
    ];
  },
};

/** Lets everything go on, and returns how many of A's bytes had been waiting: those that come before the server can have answered. */
async function resumes(way: TcpProxy): Promise<number> {
  const before = way.counts().bytesToServer;
  way.resume();
  while (way.counts().bytesToServer === before) await setImmediate();
  return way.counts().bytesToServer - before;
}

/** The statement has thousands of bytes; what the driver might say before it, such as `discard plans`, has some dozens. */
function describe(bytes: number): string {
  return bytes > 1_000 ? "a whole statement" : `${bytes} bytes`;
}
