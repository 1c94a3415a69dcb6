/** The servers of one run, and the ledgers on them: nights of history, applied, with statistics up to date. */
import { addRestaurants, finishNight, type Ledger, openLedger, planNight } from "./ledger.ts";
import type { Servers } from "./machine.ts";
import type { Progress } from "./progress.ts";
import type { Scale } from "./scale.ts";
import { command, openServers } from "./servers.ts";
import { setBasedWrite } from "./set-based-write.ts";

export interface Stage extends AsyncDisposable {
  readonly scale: Scale;
  readonly progress: Progress;
  /** Pairs to be measured. */
  readonly pairCount: number;
  readonly redisUrl: string;
  readonly servers: Servers;
  /** `keyCount` restaurants and `historyDays` nights of theirs. */
  readonly ordinary: Ledger;
  /** The same with `verifiedDays` nights; made at its first call. */
  verified(): Promise<Ledger>;
  /** `manyKeyCount` restaurants and one night of theirs; made at its first call. */
  grown(): Promise<Ledger>;
}

export type StageOptions = Pick<Stage, "scale" | "progress" | "pairCount">;

/** Seconds that the servers take to start. */
export const serverSeconds = 5;

/** Seconds that a million sales take to be recorded, on an idle machine. */
const secondsPerMillionSales = 12;

/** How long making the ledgers takes, for the estimate. */
export function stageSeconds(scale: Scale): { ordinary: number; verified: number; grown: number } {
  const seconds = (keys: number, nights: number): number =>
    Math.ceil((keys * nights * scale.salesPerKey * secondsPerMillionSales) / 1_000_000);
  return {
    ordinary: seconds(scale.keyCount, scale.historyDays),
    verified: seconds(scale.keyCount, scale.verifiedDays - scale.historyDays),
    grown: seconds(scale.manyKeyCount, 1),
  };
}

/** Starts the servers and makes the ordinary ledger. */
export async function openStage(options: StageOptions): Promise<Stage> {
  const { scale, progress } = options;
  await using started = new AsyncDisposableStack();
  progress.begin("servers", serverSeconds);
  const servers = started.use(await openServers(scale));
  const seconds = stageSeconds(scale);
  const historyUrl = await servers.create("history");
  {
    await using history = await openLedger(historyUrl);
    await addRestaurants(history, scale.keyCount);
    await addHistory(history, { scale, progress, nights: scale.historyDays, seconds: seconds.ordinary });
  }
  const ordinary = started.use(await openLedger(await servers.create("ordinary", "history"), scale.historyDays));
  const resources = started.move();
  return {
    ...options,
    redisUrl: servers.redisUrl,
    servers: servers.versions,
    ordinary,
    verified: async () => {
      const ledger = resources.use(await openLedger(await servers.create("verified", "history"), scale.historyDays));
      const nights = scale.verifiedDays - scale.historyDays;
      await addHistory(ledger, { scale, progress, nights, seconds: seconds.verified });
      return ledger;
    },
    grown: async () => {
      const ledger = resources.use(await openLedger(await servers.create("grown")));
      await addRestaurants(ledger, scale.manyKeyCount);
      await addHistory(ledger, { scale, progress, nights: 1, seconds: seconds.grown });
      return ledger;
    },
    [Symbol.asyncDispose]: async () => resources.disposeAsync(),
  };
}

interface HistoryOptions extends Pick<Stage, "scale" | "progress"> {
  readonly nights: number;
  /** How long all of it takes, for the estimate. */
  readonly seconds: number;
}

async function addHistory(ledger: Ledger, { scale, progress, nights, seconds }: HistoryOptions): Promise<void> {
  for (let night = 1; night <= nights; night++) {
    progress.begin(`history: night ${night} of ${nights}`, seconds / nights);
    const planned = await planNight(ledger, { salesPerKey: scale.salesPerKey });
    await setBasedWrite(ledger, planned);
    await finishNight(ledger, planned);
  }
  await command(ledger.database, "vacuum analyze");
  await command(ledger.database, "checkpoint");
}
