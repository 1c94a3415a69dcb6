/** Which installation this data is: an id for each epoch, and the claims of those whose leases are kept here. */
export const installation: readonly string[] = [
  `alter table nightwriter.epoch add column installation uuid not null default gen_random_uuid()`,
  `comment on column nightwriter.epoch.installation is
    'drawn anew with each epoch: what this data calls itself in a store that it shares with others'`,
  `create table nightwriter.claim (
    prefix text collate "C" not null,
    place text collate "C" not null,
    claim text not null,
    primary key (prefix, place)
  )`,
  `comment on table nightwriter.claim is
    'whose leases under a prefix are kept in this database; one that a copy has brought along bears another place'`,
];
