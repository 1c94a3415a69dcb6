import type { JobDefinition } from "@nightwriter/job";
import { restaurantTotals } from "@nightwriter/restaurant-totals";
import { didYouMean } from "./nearest.ts";
import { UsageFault } from "./usage-fault.ts";

/** The jobs of this build. */
export const definitions: readonly JobDefinition[] = [restaurantTotals];

/** The job's definition. Throws a UsageFault that lists the jobs. */
export function getDefinition(name: string): JobDefinition {
  const found = definitions.find((definition) => definition.name === name);
  if (found !== undefined) return found;
  const names = definitions.map((definition) => definition.name);
  throw new UsageFault(`job ${name}: unknown${didYouMean(name, names)}; the jobs are: ${names.join(", ")}`, {
    job: name,
  });
}
