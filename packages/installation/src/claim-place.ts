/**
 * SQL for where a claim in Postgres was written: its cluster, and the database's number there. Every store of claims in Postgres
 * binds its row to it, so that one which a dump has brought along is nobody's claim in the new place.
 */
export const claimPlace = `(select system_identifier::text from pg_control_system())
  || '/' || (select oid from pg_database where datname = current_database())`;
