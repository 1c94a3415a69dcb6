/** Restaurants that an import makes: one that is nearly a known one, or a new one beside known ones, may be a slip. */
import type { Session } from "@nightwriter/database";
import type { Acceptance } from "../acceptances.ts";
import { doubt } from "../doubt.ts";
import { isOneSlip, plainName } from "./one-slip.ts";

export interface NewRestaurantOptions {
  readonly name: string;
  readonly accepted: ReadonlySet<Acceptance>;
}

/** Made by this transaction. */
const isNew = "xmin = pg_current_xact_id()::xid";
/** Beyond so many, slips are not looked for: they must not fill the memory. */
const maxRestaurants = 50_000;
const maxNamed = 5;

/** After restaurants were made. Throws ImportFault `in_doubt`. */
export async function assertMeantRestaurants(session: Session, options: NewRestaurantOptions): Promise<void> {
  await assertNoneSimilar(session, options);
  await assertNoneBeside(session, options);
}

async function assertNoneSimilar(session: Session, { name, accepted }: NewRestaurantOptions): Promise<void> {
  if (accepted.has("similar-ok")) return;
  const rows = await session.query<{ id: string; isNew: boolean }>(
    `select id, ${isNew} as "isNew" from sales.restaurant order by ${isNew}, id limit $1`,
    [maxRestaurants + 1],
  );
  const slip = rows.length > maxRestaurants ? undefined : findSlip(rows);
  if (slip === undefined) return;
  const { made, known } = slip;
  doubt(accepted, ["similar-ok"], {
    text: `${name}: restaurant ${JSON.stringify(made)} is not known, and is nearly ${JSON.stringify(known)}`,
    instead: [`write it as ${JSON.stringify(known)}`],
    details: { file: name, restaurant: made, known },
  });
}

/** Names a new one that is another one but for a slip: names that differ in one letter at most have one in common that lacks a letter. */
function findSlip(
  rows: readonly { readonly id: string; readonly isNew: boolean }[],
): { readonly made: string; readonly known: string } | undefined {
  const byShape = new Map<string, string[]>();
  const newOnes = new Set(rows.filter((row) => row.isNew).map(({ id }) => id));
  for (const id of newOnes) for (const shape of shapesOf(id)) byShape.set(shape, [...(byShape.get(shape) ?? []), id]);
  for (const { id: known } of rows) {
    for (const shape of shapesOf(known)) {
      // Of two new ones the later is told, beside the earlier.
      const found = byShape.get(shape)?.find((id) => (!newOnes.has(known) || known < id) && isOneSlip(known, id));
      if (found !== undefined && found !== known) return { made: found, known };
    }
  }
  return undefined;
}

function shapesOf(id: string): Set<string> {
  const plain = plainName(id);
  const shapes = new Set([plain]);
  for (let at = 0; at < plain.length; at += 1) shapes.add(plain.slice(0, at) + plain.slice(at + 1));
  return shapes;
}

async function assertNoneBeside(session: Session, { name, accepted }: NewRestaurantOptions): Promise<void> {
  if (accepted.has("create")) return;
  const rows = await session.query<{ id: string; count: bigint }>(
    `select id, count(*) over () as count from sales.restaurant
     where ${isNew} and exists (select from sales.restaurant where not ${isNew}) order by id limit $1`,
    [maxNamed],
  );
  const [first] = rows;
  if (first === undefined) return;
  const others = Number(first.count) - rows.length;
  const ids = rows.map(({ id }) => JSON.stringify(id)).join(", ");
  doubt(accepted, ["create"], {
    text: `${name}: restaurant ${ids}${others > 0 ? ` and ${others} more` : ""}: not known, and others are`,
    instead: ["see nightwriter restaurants list for those that are"],
    details: { file: name, restaurant: first.id, restaurants: first.count },
  });
}
