#!/bin/sh
# Runs once, when the primary is initialized: creates a role for the standbys and makes commits wait for one of them.
set -eu

psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" -v password="$REPLICATION_PASSWORD" <<'SQL'
create role replicator with replication login password :'password';
select pg_create_physical_replication_slot('standby1');
select pg_create_physical_replication_slot('standby2');
-- Takes effect at the final start of the server: earlier, every commit would wait for a standby that does not exist yet.
alter system set synchronous_standby_names = 'ANY 1 (standby1, standby2)';
-- A slot retains the WAL that its standby has not received: a standby that never comes back must not fill the disk.
alter system set max_slot_wal_keep_size = '20GB';
SQL
echo 'host replication replicator all scram-sha-256' >> "$PGDATA/pg_hba.conf"
