/** The story for people: a table of what happened for each scene, and what was predicted beside what came out. */
import { renderTable } from "../output/table.ts";
import type { PlayedScene } from "./play-story.ts";
import { rupees } from "./rupees.ts";
import type { Verdict } from "./scene.ts";

/** Everything, ready to print. */
export function storyText(played: readonly PlayedScene[]): string {
  const wrong = played.flatMap(({ verdicts }) => verdicts).filter(({ passed }) => !passed).length;
  const numbers = played.reduce((sum, { verdicts }) => sum + verdicts.length, 0);
  const conclusion =
    wrong === 0 ? `all ${numbers} numbers are as predicted` : `${wrong} of ${numbers} numbers are not as predicted`;
  return [...played.map(sceneText), conclusion].join("\n\n\n");
}

function sceneText({ scene, events, verdicts }: PlayedScene): string {
  const table = renderTable(
    [
      { title: "t", align: "right" },
      { title: "who" },
      { title: "what" },
      { title: "token", align: "right" },
      { title: "total", align: "right" },
    ],
    events.map(({ second, who, what, token, totalMinor }) => [
      `${second} s`,
      who,
      what,
      token ?? "",
      rupees(totalMinor),
    ]),
  );
  return `(${scene.letter}) ${scene.title}\n${scene.lesson}\n\n${table}\n\n${verdictTable(verdicts)}`;
}

function verdictTable(verdicts: readonly Verdict[]): string {
  return renderTable(
    [{ title: "" }, { title: "" }, { title: "predicted" }, { title: "came out" }],
    verdicts.map(({ name, predicted, found, passed }) => [passed ? "ok" : "WRONG", name, predicted, found]),
  );
}
