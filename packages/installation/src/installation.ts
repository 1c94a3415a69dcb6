import { type Database, sqlFault } from "@nightwriter/database";
import { sql } from "kysely";
import { InstallationFault } from "./installation-fault.ts";

/** Which installation a database is, and how people know it. */
export interface Installation {
  /**
   * A UUID, made of the one that was drawn with the current epoch and of the database's number in its cluster. So a dump
   * that is restored elsewhere is another installation, a copy within the cluster too; a standby that is promoted, on
   * whatever host and port, is the same. A physical copy is the same as well until it is told otherwise.
   */
  readonly id: string;
  /** `night at 10.0.0.5:5432`: shown, never compared. */
  readonly database: string;
}

/** Reads it. Throws SqlFault; InstallationFault `installation_missing`. */
export async function currentInstallation({ db }: Database): Promise<Installation> {
  const { rows } = await sql<Installation>`
    select md5(e.installation::text || '@' || d.oid)::uuid::text as "id",
      current_database() || coalesce(' at ' || host(inet_server_addr()) || ':' || inet_server_port(), '') as "database"
    from nightwriter.epoch e join pg_database d on d.datname = current_database()
    order by e.epoch desc limit 1`
    .execute(db)
    .catch((error: unknown) => Promise.reject(sqlFault(error)));
  const [found] = rows;
  if (found !== undefined) return found;
  throw new InstallationFault("installation_missing", "database: has no epoch yet; run: nightwriter migrate");
}
