/**
 * A stamp says which transaction wrote a row: `xid`, and the `epoch` of the cluster that counted it. Whoever copies rows with
 * their stamps writes sales that no plan ever looks for, since its base's snapshot saw that transaction long ago.
 *
 * A check, and no trigger: a row trigger doubles the time of COPY, and replication's apply fires none. It is `not valid`, and
 * not for want of time: rows that are here already were written by other transactions, so it must never be validated, and
 * pg_dump puts back a check that is not valid after the rows, so that a whole restore keeps every stamp.
 *
 * Asking for the epoch reads a file of the server's. So it is asked once in a transaction, which keeps the answer in a setting of
 * its own; any row that does not have just that is looked at by the function.
 */
export const stamps: readonly string[] = [
  `create function nightwriter.is_own_stamp(xid xid8, epoch integer, stamped text) returns boolean
    language plpgsql set search_path = pg_catalog, pg_temp as $$
  begin
    if xid = pg_current_xact_id() and epoch = nightwriter.current_epoch() then
      perform set_config('nightwriter.stamped_epoch', epoch::text, true);
      return true;
    end if;
    raise exception '%: a row that carries the stamp of another transaction (xid %, epoch %) is refused; leave its columns xid and epoch out, their defaults stamp it',
      stamped, xid, epoch
      using errcode = 'check_violation', schema = (parse_ident(stamped))[1], table = (parse_ident(stamped))[2],
        constraint = (parse_ident(stamped))[2] || '_own_stamp',
        hint = format('A dump of the whole database keeps its stamps. To restore data without their schema: alter table %1$s drop constraint %2$I; restore; select nightwriter.require_stamps(%1$L).',
          stamped, (parse_ident(stamped))[2] || '_own_stamp');
  end $$`,
  `create function nightwriter.require_stamps(stamped regclass) returns void
    language plpgsql set search_path = pg_catalog, pg_temp as $$
  declare
    named text := (select relname || '_own_stamp' from pg_class where oid = stamped);
  begin
    execute format('alter table %s drop constraint if exists %I', stamped, named);
    execute format(
      'alter table %s add constraint %I check (
        xid = pg_current_xact_id() and epoch::text = current_setting(''nightwriter.stamped_epoch'', true)
          or nightwriter.is_own_stamp(xid, epoch, %L)) not valid',
      stamped, named, stamped);
  end $$`,
  `comment on function nightwriter.require_stamps(regclass) is
    'afterwards the table, which has the columns xid and epoch, takes only rows with the stamp of the transaction that writes them'`,
  `alter function nightwriter.current_epoch() set search_path = pg_catalog, pg_temp`,
  `alter function nightwriter.refuse_change() set search_path = pg_catalog, pg_temp`,
  `select nightwriter.require_stamps('sales.sale')`,
  `select nightwriter.require_stamps('sales.opening_total')`,
  `select nightwriter.require_stamps('nightwriter.ledger_entry')`,
  `select nightwriter.require_stamps('nightwriter.audit_log')`,
  `select nightwriter.require_stamps('nightwriter.acknowledgement')`,
];
