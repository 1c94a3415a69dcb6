import { InvalidArgumentError } from "@commander-js/extra-typings";
import { type Letter, letters } from "../story/scene-letters.ts";

/** `a,b`: scenes by their letters, in the order in which they are told. */
export function parseScenes(text: string, previous: readonly Letter[] = []): readonly Letter[] {
  const asked = text.split(",").map((letter) => letter.trim());
  const unknown = asked.find((letter) => !letters.some((known) => known === letter));
  if (unknown !== undefined) throw new InvalidArgumentError(`The scenes are ${letters.join(", ")}.`);
  return letters.filter((letter) => asked.includes(letter) || previous.includes(letter));
}

/** How many times faster: from 1 to 600. */
export function parseSpeed(text: string): number {
  const speed = Number(text);
  if (!/^\d{1,3}(?:\.\d{1,3})?$/.test(text) || speed < 1 || speed > 600) {
    throw new InvalidArgumentError("Write a number from 1 to 600.");
  }
  return speed;
}
