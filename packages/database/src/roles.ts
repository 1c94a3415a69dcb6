/**
 * The roles of an installation: groups without a login, which the logins of people and processes are made members of.
 *
 * Roles belong to the cluster, what they may do to a database: so making them again is how a second database, or a newer schema,
 * gets its grants. Everything is taken back first and then given as the grants of each list say, in one transaction: afterwards no
 * role has more, whatever somebody had granted it in these schemas.
 */
import { sql } from "kysely";
import type { Database } from "./open-database.ts";
import { coreSchema, type SchemaList } from "./schema-list.ts";
import { sqlFault } from "./sql-fault.ts";

const groups = ["scheduler", "worker", "operator", "auditor"] as const;
const schemas = "nightwriter, sales";
const owner = "nightwriter_migrator";

/** The SQL that {@link ensureRoles} runs for the tables of these lists, a statement each, without the transaction around it. */
export function roleStatements(lists: readonly SchemaList[] = [coreSchema]): readonly string[] {
  return [...rolesWithoutGrants, ...lists.flatMap(({ grants }) => grantStatements(grants))];
}

function grantStatements(grants: SchemaList["grants"]): string[] {
  return Object.entries(grants).flatMap(([table, privileges]) =>
    Object.entries(privileges).map(([role, privilege]) => `grant ${privilege} on ${table} to nightwriter_${role}`),
  );
}

const rolesWithoutGrants: readonly string[] = [
  ...[...groups, "migrator"].map(makeRole),
  // Who is no superuser may only give away to a role that it is a member of. Roles made by oneself can be given to oneself.
  `do $$ begin
    if not pg_has_role(current_user, '${owner}', 'member') then grant ${owner} to current_user; end if;
  end $$`,
  `do $$ begin execute format('grant create on database %I to ${owner}', current_database()); end $$`,
  giveAway(),
  ...groups.flatMap((group) => [
    `revoke all on all tables in schema ${schemas} from nightwriter_${group}`,
    `revoke all on all sequences in schema ${schemas} from nightwriter_${group}`,
    `revoke all on schema ${schemas} from nightwriter_${group}`,
    `grant usage on schema ${schemas} to nightwriter_${group}`,
    `grant select on all tables in schema ${schemas} to nightwriter_${group}`,
  ]),
];

/**
 * The SQL that gives a queue's schema in PostgreSQL to the roles. The tables are BullMQ's, and each process writes all of them.
 *
 * BullMQ makes a sequence for each queue when the first job is added, and would leave it to that process's login alone. So what makes
 * sequences runs as the schema's owner, and only those who may add jobs may call it.
 */
function queueRoleStatements(schema: string): readonly string[] {
  const writers = "nightwriter_scheduler, nightwriter_worker, nightwriter_operator";
  return [
    ...[...groups, "migrator"].map(makeRole),
    `grant usage on schema ${schema} to ${writers}, nightwriter_auditor`,
    `grant select on all tables in schema ${schema} to ${writers}, nightwriter_auditor`,
    `grant insert, update, delete on all tables in schema ${schema} to ${writers}`,
    `grant usage, select on all sequences in schema ${schema} to ${writers}`,
    `do $$ declare maker regprocedure; begin
      for maker in select oid from pg_proc where pronamespace = '${schema}'::regnamespace and prosrc ilike '%create sequence%' loop
        execute format('alter function %s security definer set search_path = ${schema}, pg_catalog, pg_temp', maker);
        execute format('revoke execute on function %s from public', maker);
        execute format('grant execute on function %s to ${writers}', maker);
      end loop;
    end $$`,
  ];
}

/**
 * Makes the roles and grants each what it needs of the lists' tables; with `queueSchema`, in that schema of a queue in PostgreSQL and nowhere
 * else. One transaction. Needs the right to make roles and what belongs to whoever migrated. Idempotent, and meant to be run after
 * each migration. Throws SqlFault; nothing is changed then.
 */
export async function ensureRoles(
  { db }: Database,
  { lists, queueSchema }: { readonly lists?: readonly SchemaList[]; readonly queueSchema?: string } = {},
): Promise<void> {
  const statements = queueSchema === undefined ? roleStatements(lists) : queueRoleStatements(queueSchema);
  try {
    await db.transaction().execute(async (transaction) => {
      // Roles belong to the cluster: two databases at once would both make them.
      await sql`select pg_advisory_xact_lock(${roleLock})`.execute(transaction);
      for (const statement of statements) await sql.raw(statement).execute(transaction);
    });
  } catch (error) {
    throw sqlFault(error);
  }
}

/** Any constant would do. */
const roleLock = 0x6e77726f;

/** Also where another database of the cluster makes it at the same moment. */
function makeRole(group: string): string {
  const role = `nightwriter_${group}`;
  return `do $$ begin
    if not exists (select from pg_roles where rolname = '${role}') then create role ${role} nologin; end if;
  exception when duplicate_object or unique_violation then null;
  end $$`;
}

/** Schemas, tables, views, sequences and functions to the migrator, so that none of the other roles owns one. */
function giveAway(): string {
  return `do $$ declare statement text; begin
    for statement in
      select format('alter schema %I owner to ${owner}', nspname) from pg_namespace
        where nspname in ('nightwriter', 'sales') and nspowner <> '${owner}'::regrole
      union all
      select format('alter table %s owner to ${owner}', oid::regclass) from pg_class
        where relnamespace in ('nightwriter'::regnamespace, 'sales'::regnamespace)
          and relkind in ('r', 'p', 'v', 'm') and relowner <> '${owner}'::regrole
      union all
      select format('alter routine %s owner to ${owner}', oid::regprocedure) from pg_proc
        where pronamespace in ('nightwriter'::regnamespace, 'sales'::regnamespace) and proowner <> '${owner}'::regrole
    loop execute statement; end loop;
  end $$`;
}
