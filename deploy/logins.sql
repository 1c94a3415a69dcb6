-- A login for each process, as a member of the role that migrate --roles has made for it. For psql; may be run again, which also
-- changes the passwords. They come from the environment, so that they stand in no command line.
\set ON_ERROR_STOP on
\getenv scheduler_password SCHEDULER_PASSWORD
\getenv worker_password WORKER_PASSWORD
\getenv operator_password OPERATOR_PASSWORD

select format('create role %I login', login)
from (values ('scheduler'), ('worker'), ('operator')) as wanted(login)
where not exists (select from pg_roles where rolname = login)
\gexec

set log_statement = none;
alter role scheduler login password :'scheduler_password';
alter role worker login password :'worker_password';
alter role operator login password :'operator_password';

grant nightwriter_scheduler to scheduler;
grant nightwriter_worker to worker;
grant nightwriter_operator to operator;
