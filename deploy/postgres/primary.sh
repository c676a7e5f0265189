#!/bin/sh
# Runs once, when the primary is made: a role for the standbys, and a commit that waits for one of them.
set -eu

psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" -v password="$REPLICATION_PASSWORD" <<'SQL'
create role replicator with replication login password :'password';
select pg_create_physical_replication_slot('standby1');
select pg_create_physical_replication_slot('standby2');
-- Takes effect when the server starts for good: until there is a standby, every commit would wait for it.
alter system set synchronous_standby_names = 'ANY 1 (standby1, standby2)';
-- A slot keeps what its standby has not received: one that never comes back must not fill the disk.
alter system set max_slot_wal_keep_size = '20GB';
SQL
echo 'host replication replicator all scram-sha-256' >> "$PGDATA/pg_hba.conf"
