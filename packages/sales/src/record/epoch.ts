import type { Session } from "@nightwriter/database";

/** The epoch that rows written now belong to. Throws SqlFault when the database was restored and has none yet. */
export async function currentEpoch(session: Session): Promise<number> {
  const rows = await session.query<{ epoch: number }>("select nightwriter.current_epoch() as epoch");
  return rows[0]?.epoch ?? 0;
}
