/** How a PostgreSQL that is in use is migrated: in steps that give up their turn, continue after an interruption, and report it. */
import { describe, expect, test } from 'bun:test'
import { MigrationStalled } from '../../src/store/postgres/postgres-migrate.ts'
import { splitSteps } from '../../src/store/postgres/postgres-steps.ts'
import { migrations } from '../../src/store/schema/index.ts'
import { postgresDialect } from '../../src/store/sql/dialects.ts'
import { splitStatements } from '../../src/store/sql/statements.ts'
import { engines } from '../support/server.ts'
import { nextMigration } from '../support/store/next-migration.ts'
import { useMigration } from './postgres-migration.ts'

describe('the steps of a migration', () => {
  test('keep together what changes tables, and take indexes of tables in use out of it', () => {
    const text = `
create table if not exists notes (id text primary key, word text);
create index if not exists notes_by_word on notes (word);
alter table users add column if not exists note text;
create index if not exists users_by_note
  on users (note);
create unique index if not exists users_by_word on users (word);
drop index if exists users_by_number;
update users set note = '';
`
    expect(splitSteps(text)).toEqual([
      {
        kind: 'transaction',
        statements: [
          'create table if not exists notes (id text primary key, word text)',
          'create index if not exists notes_by_word on notes (word)',
          'alter table users add column if not exists note text',
        ],
      },
      {
        kind: 'build',
        index: 'users_by_note',
        statement: 'create index concurrently if not exists users_by_note\n  on users (note)',
      },
      {
        kind: 'build',
        index: 'users_by_word',
        statement: 'create unique index concurrently if not exists users_by_word on users (word)',
      },
      {
        kind: 'drop',
        index: 'users_by_number',
        statement: 'drop index concurrently if exists users_by_number',
      },
      { kind: 'transaction', statements: ["update users set note = ''"] },
    ])
  })

  test('of every migration are understood: each statement may run again, and no index is missed', () => {
    for (const { text } of migrations) {
      const rendered = text(postgresDialect)
      const statements = splitStatements(rendered)
      for (const [index, statement] of statements.entries()) {
        const [, trigger] = /^create trigger (\w+)/.exec(statement) ?? []
        // PostgreSQL has no such clause for triggers: one is dropped right before.
        if (trigger !== undefined)
          expect(statements[index - 1]).toMatch(new RegExp(`^drop trigger if exists ${trigger} `))
        else if (/^(create|drop|alter)/.test(statement))
          expect(statement).toMatch(
            / if (not )?exists |^create or replace |alter column \w+\s+(set default|type)/,
          )
      }
      const made = new Set(
        [...rendered.matchAll(/create table if not exists (\w+)/g)].map(([, name]) => name),
      )
      const inUse = [...rendered.matchAll(/create (?:unique )?index if not exists (\w+)\s+on (\w+)/g)]
        .filter(([, , table]) => !made.has(table))
        .map(([, name]) => name)
      const built = splitSteps(rendered).flatMap(step => (step.kind === 'build' ? [step.index] : []))
      expect(built).toEqual(inUse as string[])
    }
  })
})

test('the body of a trigger or function stays one statement', () => {
  const text = `
create trigger if not exists t after insert on a begin
  update b set n = n + 1;
  update c set n = n + 1;
  end;
create or replace function f() returns trigger language plpgsql as $$
  begin
    perform 1;
    return null;
  end
  $$;

drop table if exists d;
`
  const statements = splitStatements(text)
  expect(statements.map(statement => statement.split(' ').slice(0, 2).join(' '))).toEqual([
    'create trigger',
    'create or',
    'drop table',
  ])
  expect(statements[0]).toEndWith('  end')
  expect(statements[1]).toEndWith('$$')
})

describe.skipIf(!engines.includes('postgres'))('a migration of PostgreSQL', () => {
  const { use, migrate, leaveOpen, indexIn, until, lines } = useMigration()

  test('that was interrupted continues where it was, and builds a half-built index again', async () => {
    const client = await use()
    // A view from before: a column can be added beside it, but an index is finished only when it has ended.
    const end = await leaveOpen('select 1 from users', 'isolation level repeatable read')
    const interrupted = migrate().catch((error: Error) => error)
    await until(async () => (await indexIn(client))?.valid === false)
    await client.unsafe(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where query like 'create index concurrently%' and datname = current_database()`,
    )
    expect(await interrupted).toBeInstanceOf(Error)
    await end()
    expect(await indexIn(client)).toMatchObject({ valid: false })

    lines.length = 0
    expect(await migrate()).toEqual({ version: migrations.length + 1, applied: 1 })
    expect(lines[0]).toContain('step 2 of 2')
    expect(lines[1]).toContain('dropping the invalid index of an interrupted build')
    expect(await indexIn(client)).toMatchObject({ valid: true })
    expect([...(await client.unsafe('select * from schema_progress'))]).toEqual([])
  })

  test('that cannot get its lock in time reports who holds it, and is possible later', async () => {
    const client = await use()
    // An older transaction that is not in the way.
    const endOther = await leaveOpen('select 1')
    const end = await leaveOpen('lock table organization_entitlements in row exclusive mode')
    const [holder] = await client.unsafe(
      `select pid from pg_locks where mode = 'RowExclusiveLock' and relation = 'organization_entitlements'::regclass`,
    )
    const stalled = await migrate(nextMigration, 1500).catch((error: Error) => error)
    expect(stalled).toBeInstanceOf(MigrationStalled)
    expect((stalled as Error).message).toMatch(
      /^migration \d+, step 1 of 2 \(alter table .*\) timed out: process \d+ \(.*, idle in transaction\) has had a transaction open for \d+ s, its last statement began \d+ s ago\. End it/,
    )
    expect((stalled as Error).message).toContain(`process ${holder.pid} (`)
    expect((stalled as Error).message).not.toContain('lock table')
    await endOther()
    expect(lines.some(line => line.includes('retrying in 0.5 s'))).toBe(true)
    // It did not stay in the way of others.
    await client.unsafe('update organization_entitlements set last_updated = 1')
    await end()
    expect(await migrate()).toEqual({ version: migrations.length + 1, applied: 1 })
  })

  test('that ends in a mistake reports it at once, and keeps what was done', async () => {
    const client = await use()
    const text = () => `${nextMigration.text(postgresDialect)}; update nowhere set nothing = 1;`
    await expect(migrate({ additive: true, text })).rejects.toThrow('nowhere')
    expect([...(await client.unsafe('select steps from schema_progress'))]).toEqual([{ steps: 2 }])
    // Another text is another migration, and begins at its beginning.
    expect(await migrate()).toEqual({ version: migrations.length + 1, applied: 1 })
    expect(lines.filter(line => line.includes('step 1 of 2'))).toHaveLength(1)
  })

  test('fills a column some rows at a time, each time in a separate transaction', async () => {
    const client = await use()
    await client.unsafe(
      `insert into facts (name, value) select 'fact ' || n, '' from generate_series(1, 1200) n`,
    )
    const text = () => `
alter table facts add column if not exists note text;
update facts set note = 'filled' where name in (select name from facts where note is null limit 500);
`
    expect(await migrate({ additive: true, text })).toEqual({ version: migrations.length + 1, applied: 1 })
    expect(lines.some(line => line.includes('step 2 of 2 (update facts)'))).toBe(true)
    const batches = await client.unsafe(
      'select count(*)::int as rows from facts group by xmin::text, note order by 1',
    )
    expect(batches.map((each: { rows: number }) => each.rows)).toEqual([200, 500, 500])
  })

  test('is waited for by others, who report it and find nothing to do', async () => {
    await use()
    const end = await leaveOpen('lock table organization_entitlements in row exclusive mode')
    const first = migrate()
    await until(() => lines.some(line => line.includes('retrying in')))
    const second = migrate()
    await until(() =>
      lines.some(line =>
        /^waiting for another process that is migrating the store: process \d+ \(/.test(line),
      ),
    )
    await end()
    expect(await first).toEqual({ version: migrations.length + 1, applied: 1 })
    expect(await second).toEqual({ version: migrations.length + 1, applied: 0 })
  })
})
