import { loadConfig } from "@nightwriter/config";
import { assertSchemaCompatible } from "@nightwriter/database";
import { salesSchema } from "@nightwriter/sales";
import { type ListedRestaurant, listRestaurants } from "@nightwriter/sales/restaurants";
import { type Answer, answer } from "../answer.ts";
import { connectDatabase } from "../connect-database.ts";
import { openLogger } from "../open-logger.ts";
import { renderTable } from "../output/table.ts";
import type { Terminal } from "../terminal.ts";

/** Says which restaurants there are, and what their dates and amounts mean. */
export async function listOfRestaurants(terminal: Terminal): Promise<Answer> {
  const config = loadConfig();
  const logger = openLogger(terminal, config);
  await using database = await connectDatabase({ config, verb: "restaurants list", logger });
  await assertSchemaCompatible(database);
  await assertSchemaCompatible(database, salesSchema);
  const restaurants = await listRestaurants(database);
  return answer({
    inOrder: true,
    document: { restaurants },
    text: restaurants.length === 0 ? "no restaurant is known; import makes them" : restaurantsTable(restaurants),
  });
}

const columns = [
  { title: "restaurant" },
  { title: "name" },
  { title: "currency" },
  { title: "zone" },
  { title: "cutoff" },
  { title: "from" },
  { title: "" },
] as const;

/** A line for each clock; what does not change stands in the first one. */
export function restaurantsTable(restaurants: readonly ListedRestaurant[]): string {
  const rows = restaurants.flatMap(({ id, name, currency, clocks, active, closedSince }) =>
    clocks.map(({ from, zone, cutoff }, index) => [
      ...(index === 0 ? [id, name, currency] : ["", "", ""]),
      zone,
      cutoff,
      from ?? "",
      index === 0 ? stateText(active, closedSince) : "",
    ]),
  );
  return renderTable(columns, rows);
}

function stateText(active: boolean, closedSince: string | null): string {
  if (closedSince !== null) return `closed since ${closedSince}`;
  return active ? "" : "not active";
}
