/**
 * A session that keeps others waiting, as far as it may be told: a log is read by more people than a database. Of its statement only
 * the command is told, and only one of those that there are: whatever else stands in it may be somebody's data, or a password that
 * was typed at the wrong prompt.
 */

export interface Blocker {
  /** 0: a prepared transaction, which has no session. */
  readonly pid: number;
  readonly application: string | null;
  /** As pg_stat_activity has it: "idle in transaction". null: this role may not see it. */
  readonly state: string | null;
  /** Since when it is in that state, ISO 8601. */
  readonly since: string | null;
  /** Since when its transaction lasts. */
  readonly begun: string | null;
  /** The first word of its last statement. */
  readonly word: string | null;
}

const instant = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;

/** What is read of `a`, a row of pg_stat_activity. */
export const blockerColumns: string = `a.application_name as application, coalesce(a.state, a.backend_type) as state,
  ${instant("coalesce(a.state_change, a.backend_start)")} as since, ${instant("a.xact_start")} as begun,
  lower(substring(a.query from '^\\s*([A-Za-z]+)')) as word`;

const commands: ReadonlySet<string> = new Set(
  (
    "abort alter analyze begin call checkpoint close cluster comment commit copy create deallocate declare delete discard do drop end " +
    "execute explain fetch grant import insert listen load lock merge move notify prepare reassign refresh reindex release reset " +
    "revoke rollback savepoint security select set show start table truncate unlisten update vacuum values with"
  ).split(" "),
);

/** `session 4711 (psql, idle in transaction since 2026-12-01T02:04:09Z, its transaction since 2026-12-01T02:04:00Z, last command: update)`. */
export function describeBlockers(blockers: readonly Blocker[]): string {
  return blockers.map(describeOne).join(", ");
}

function describeOne({ pid, application, state, since, begun, word }: Blocker): string {
  if (pid === 0) return "a prepared transaction (see pg_prepared_xacts)";
  const name = application === null || application === "" ? "no name" : application;
  if (state === null) return `session ${pid} (${name}; what it does is not shown to this role)`;
  const facts = [
    name,
    `${state}${since === null ? "" : ` since ${since}`}`,
    ...(begun === null ? [] : [`its transaction since ${begun}`]),
    ...(word !== null && commands.has(word) ? [`last command: ${word}`] : []),
  ];
  return `session ${pid} (${facts.join(", ")})`;
}
