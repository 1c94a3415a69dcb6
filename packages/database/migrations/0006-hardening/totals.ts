/** The row of a total is made once and stays: made anew, it would stand at zero, before a ledger that has entries. */
export const totals: readonly string[] = [
  `create function nightwriter.refuse_delete() returns trigger language plpgsql as $$
  begin
    raise exception '%.%: % refused; its rows stay for good, since a total that is made anew is behind its ledger',
      tg_table_schema, tg_table_name, lower(tg_op)
      using errcode = 'restrict_violation';
  end $$`,
  `create trigger key_total_stays before delete or truncate on nightwriter.key_total
    for each statement execute function nightwriter.refuse_delete()`,
  `revoke delete, truncate on nightwriter.key_total from public`,
];
