import type { OrderedItem, WriteResult } from "../orders.ts";
import { countEntries } from "../restaurant.ts";
import { type Scene, type SceneStage, verdict } from "../scene.ts";
import { endsExact, notesWrite } from "../steps.ts";

/** No lock at all: both writers get every item, at the same moment. */
export const noLock: Scene = {
  letter: "c",
  title: "no lock at all, every delivery doubled",
  lesson: "Additive, idempotent and version-checked: twice the work, and the same total.",
  configuredLeases: false,
  needs: [],
  async play(stage) {
    stage.begin();
    const outcomes = [
      await deliversTwice(stage, { second: 0, item: stage.two }),
      await deliversTwice(stage, { second: 1, item: stage.three }),
    ];
    return [
      verdict("+2,000 twice", "applied, duplicate", outcomes[0] ?? ""),
      verdict("+3,000 twice", "applied, duplicate", outcomes[1] ?? ""),
      verdict("entries besides the opening", "2", String(await countEntries(stage.database, stage.job))),
      ...(await endsExact(stage)),
    ];
  },
};

type Delivery = { readonly second: number; readonly item: OrderedItem };

/** To both writers at once. Which of them is first is luck; what comes out is not. */
async function deliversTwice(stage: SceneStage, { second, item }: Delivery): Promise<string> {
  await stage.clock.until(second);
  const both = [stage.a, stage.b];
  const results: WriteResult[] = await Promise.all(both.map((writer) => writer.ask("deliver", item)));
  const byOutcome = both
    .map((writer, index) => ({ writer, result: results[index] }))
    .toSorted((one, other) => String(one.result?.outcome).localeCompare(String(other.result?.outcome)));
  for (const { writer, result } of byOutcome) {
    if (result !== undefined) await notesWrite(stage, { second, writer, item, result: withoutToken(result) });
  }
  return byOutcome.map(({ result }) => result?.outcome ?? "nothing").join(", ");
}

/** Nobody has raised a token here: the first one of the partition is no news. */
function withoutToken(result: WriteResult): WriteResult {
  return result.outcome === "applied" ? { ...result, token: "" } : result;
}
