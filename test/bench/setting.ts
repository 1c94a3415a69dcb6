import type { Database, Session } from "@nightwriter/database";

/** Runs `work` on one connection with `setting`, "enable_nestloop = off", and gives it back as it was. Throws what it throws. */
export async function withSetting<Result>(
  database: Database,
  setting: string,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  return database.session(async (lent) => {
    await lent.query(`set ${setting}`);
    try {
      return await work(lent);
    } finally {
      await lent.query(`reset ${setting.split(" ", 1)[0]}`);
    }
  });
}
