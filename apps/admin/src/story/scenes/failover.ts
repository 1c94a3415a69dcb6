import { setTimeout } from "node:timers/promises";
import { type RedisService, startRedis, startTcpProxy, type TcpProxy } from "@nightwriter/services";
import { type Scene, type SceneStage, verdict } from "../scene.ts";
import { applies, bothHold, endsExact, refusal, takes } from "../steps.ts";

/** A replica that had not yet copied the grant becomes the lock server. */
export const failover: Scene = {
  letter: "d",
  title: "the lock server fails over",
  lesson: "A replica that had not copied the grant gives the lease to somebody else: two holders, one total.",
  configuredLeases: false,
  needs: ["redis"],
  async play(stage) {
    const { clock, a, b } = stage;
    const { primary, replica, between } = await startPair(stage);
    await stage.openLeases(a, primary.url);
    stage.begin();
    between.hold();
    const first = await takes(stage, { second: 0, writer: a });
    const keysOfPrimary = await primary.ask("dbsize");
    await stage.note({ second: 0, who: "lock server", what: "its replica is 0.4 s behind, and nobody waits for it" });
    await clock.until(0.2);
    await primary.kill();
    between.cut();
    await stage.note({ second: 0.2, who: "lock server", what: "crashes (SIGKILL), the grant not copied" });
    await clock.until(5);
    const keysOfReplica = await replica.ask("dbsize");
    await replica.ask("replicaof", "no", "one");
    await stage.note({ second: 5, who: "replica", what: "is made the lock server; it has never heard of A" });
    await stage.openLeases(b, replica.url);
    const second = await takes(stage, { second: 6, writer: b });
    const holders = await bothHold(stage, [a, b]);
    const refused = await applies(stage, { second: 7, writer: a, item: stage.two });
    await applies(stage, { second: 8, writer: b, item: stage.three });
    await applies(stage, { second: 9, writer: b, item: stage.two, again: true });
    return [
      verdict("tokens of A and B", "33, 34", `${first}, ${second}`),
      verdict("grants on primary, replica", "1, 0", `${keysOfPrimary}, ${keysOfReplica}`),
      holders,
      verdict("A's write", "33 < 34, 0 rows", refusal(refused)),
      ...(await endsExact(stage)),
    ];
  },
};

interface Pair {
  readonly primary: RedisService;
  readonly replica: RedisService;
  /** The way by which the replica copies. */
  readonly between: TcpProxy;
}

/** Two servers, one of which copies the other and has done so up to now. */
async function startPair({ props, signal }: SceneStage): Promise<Pair> {
  const primary = props.use(await startRedis());
  const between = props.use(await startTcpProxy({ port: primary.port }));
  const replica = props.use(await startRedis({ replicaOf: between.urlFor(primary.url) }));
  while (!(await replica.ask("info", "replication")).includes("master_link_status:up")) {
    await setTimeout(10, undefined, { signal });
  }
  return { primary, replica, between };
}
