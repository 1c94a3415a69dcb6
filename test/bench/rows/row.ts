import type { Figure } from "../figure.ts";
import type { Scale } from "../scale.ts";
import type { Stage } from "../stage.ts";

/** A row of the table, or two that come of one measurement. */
export interface Row {
  readonly name: string;
  /** How long it takes for so many pairs, on an idle machine with two cores; for the estimate. */
  seconds(scale: Scale, pairCount: number): number;
  measure(stage: Stage): Promise<Figure[]>;
}
