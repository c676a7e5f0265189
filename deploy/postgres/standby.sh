#!/bin/sh
# A standby: copies the primary at its first start, and replicates from it from then on.
set -eu

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  chmod 0700 "$PGDATA"
  until PGPASSWORD="$REPLICATION_PASSWORD" pg_basebackup --pgdata "$PGDATA" --write-recovery-conf --wal-method stream \
    --slot "$STANDBY_NAME" --checkpoint fast \
    --dbname "host=primary user=replicator application_name=$STANDBY_NAME"; do
    rm -rf "$PGDATA"/*
    sleep 2
  done
fi
exec postgres
