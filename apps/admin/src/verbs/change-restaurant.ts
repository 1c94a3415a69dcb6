import { loadConfig } from "@nightwriter/config";
import { assertSchemaCompatible } from "@nightwriter/database";
import { salesSchema } from "@nightwriter/sales";
import { changeRestaurant, type RestaurantChange } from "@nightwriter/sales/restaurants";
import { actor } from "../actor.ts";
import { type Answer, answer } from "../answer.ts";
import { connectDatabase } from "../connect-database.ts";
import { openLogger } from "../open-logger.ts";
import type { Terminal } from "../terminal.ts";
import { UsageFault } from "../usage-fault.ts";
import { restaurantsTable } from "./restaurants-list.ts";

interface ChangeVerbOptions {
  readonly restaurant: string;
  readonly reason: string;
}

export interface SetRestaurantOptions extends ChangeVerbOptions {
  readonly zone?: string | undefined;
  readonly cutoff?: string | undefined;
  readonly from?: Temporal.PlainDate | undefined;
  readonly currency?: string | undefined;
  readonly name?: string | undefined;
}

/** Changes what is named; the rest stays. */
export async function setRestaurant(terminal: Terminal, options: SetRestaurantOptions): Promise<Answer> {
  const { zone, cutoff, from, currency, name } = options;
  if ([zone, cutoff, currency, name].every((each) => each === undefined)) {
    throw new UsageFault("what is to be set: say --zone, --cutoff, --currency or --name");
  }
  if (from !== undefined && zone === undefined && cutoff === undefined) {
    throw new UsageFault(
      `option --from ${from.toString()}: is about --zone and --cutoff; say one of them, or leave it out`,
    );
  }
  const change: RestaurantChange = {
    ...(zone !== undefined && { zone }),
    ...(cutoff !== undefined && { cutoff }),
    ...(from !== undefined && { from }),
    ...(currency !== undefined && { currency }),
    ...(name !== undefined && { name }),
  };
  return apply(terminal, { ...options, verb: "restaurants set", change });
}

/** Refuses sales since the date. */
export async function closeRestaurant(
  terminal: Terminal,
  { since, ...options }: ChangeVerbOptions & { readonly since: Temporal.PlainDate },
): Promise<Answer> {
  return apply(terminal, { ...options, verb: "restaurants close", change: { closedSince: since } });
}

/** Takes a closing back. */
export async function reopenRestaurant(terminal: Terminal, options: ChangeVerbOptions): Promise<Answer> {
  return apply(terminal, { ...options, verb: "restaurants reopen", change: { closedSince: null } });
}

type Request = ChangeVerbOptions & { readonly verb: string; readonly change: RestaurantChange };

async function apply(terminal: Terminal, { restaurant: id, change, verb, ...options }: Request): Promise<Answer> {
  const reason = options.reason.trim();
  if (reason === "") throw new UsageFault("option --reason: is empty; say why, for the audit log");
  const config = loadConfig();
  const logger = openLogger(terminal, config);
  await using database = await connectDatabase({ config, verb, logger, patient: true });
  await assertSchemaCompatible(database);
  await assertSchemaCompatible(database, salesSchema);
  const onWait = (): void => terminal.note("an import is at work; waits for it");
  const { before, after, changed } = await changeRestaurant(database, {
    id,
    change,
    actor: actor(),
    verb,
    reason,
    onWait,
  });
  return answer({
    inOrder: true,
    document: { restaurant: id, changed, before, after },
    text: `${restaurantsTable([after])}${changed ? "" : "\nlike that already; nothing was changed"}`,
  });
}
