import { startRedis } from "@nightwriter/services";
import { type Scene, verdict } from "../scene.ts";
import { applies, bothHold, endsExact, refusal, takes } from "../steps.ts";

const JUMP_S = 60;

/** The lock server's wall clock is set, by hand or by a time server, while A holds the lease. */
export const clockJump: Scene = {
  letter: "f",
  title: "the lock server's clock jumps",
  lesson:
    "The server thinks that a minute has passed and ends the lease; A's own clock, which did not jump, trusts it.",
  configuredLeases: false,
  needs: ["redis", "faketime"],
  async play(stage) {
    const { clock, a, b, props } = stage;
    const server = props.use(await startRedis({ movableClock: true }));
    await Promise.all([a, b].map((writer) => stage.openLeases(writer, server.url)));
    stage.begin();
    const first = await takes(stage, { second: 0, writer: a });
    await clock.until(5);
    await server.moveClock(clock.toMs(JUMP_S));
    await stage.note({
      second: 5,
      who: "lock server",
      what: `its clock jumps ${JUMP_S} s ahead: the lease is over for it`,
    });
    const second = await takes(stage, { second: 6, writer: b });
    const holders = await bothHold(stage, [a, b]);
    const refused = await applies(stage, { second: 7, writer: a, item: stage.two });
    await applies(stage, { second: 8, writer: b, item: stage.three });
    await applies(stage, { second: 9, writer: b, item: stage.two, again: true });
    return [
      verdict("tokens of A and B", "33, 34", `${first}, ${second}`),
      holders,
      verdict("A's write", "33 < 34, 0 rows", refusal(refused)),
      ...(await endsExact(stage)),
    ];
  },
};
