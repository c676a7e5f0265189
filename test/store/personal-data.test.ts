/** What is stored about a person: every table and column of the schema is exported and deleted, or listed with a reason. */
import { describe, expect, test } from 'bun:test'
import { exportUser } from '../../src/contract/control/users.ts'
import { OTHER_TABLES, PERSONAL_TABLES, WITHHELD } from '../../src/store/queries/personal-data.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'
import { createPerson, PERSON, SECRET } from '../support/store/person.ts'

/** The columns of every table. */
async function readSchema(server: TestServer): Promise<Map<string, string[]>> {
  const columns: { name: string; column: string }[] = await server.execute(
    server.engine === 'sqlite'
      ? `select t.name as name, c.name as "column" from sqlite_master t, pragma_table_info(t.name) c
         where t.type = 'table' and t.name not like 'sqlite%'`
      : `select table_name as name, column_name as "column" from information_schema.columns
         where table_schema = current_schema()`,
  )
  const schema = new Map<string, string[]>()
  for (const { name, column } of columns) schema.set(name, [...(schema.get(name) ?? []), column])
  return schema
}

/** The tables that have a row with one of these texts, in any column. */
async function tablesNaming(server: TestServer, texts: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const name of (await readSchema(server)).keys()) {
    const rows = JSON.stringify(await server.execute(`select * from ${name}`), (_key, value) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    if (texts.some(text => rows.includes(text))) found.push(name)
  }
  return found.toSorted()
}

const exportOf = (server: TestServer, id: string) =>
  server.call({ method: 'POST', path: `/control/users/${id}/export`, token: server.world.operator_token })

const keptTables = new Set([
  ...PERSONAL_TABLES.filter(({ kept }) => kept !== undefined).map(({ table }) => table),
  ...Object.entries(OTHER_TABLES).flatMap(([table, { kept }]) => (kept === undefined ? [] : [table])),
])

describe('the lists', () => {
  test('name each table once', () => {
    const names = [...PERSONAL_TABLES.map(({ table }) => table), ...Object.keys(OTHER_TABLES)]
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted())
  })

  test('the export is described with its reasons', () => {
    expect(exportUser.answerLines).toBeDefined()
    for (const { reason, kept } of Object.values(OTHER_TABLES))
      expect([reason, kept ?? '.'].every(text => text.endsWith('.'))).toBe(true)
  })
})

onEachStore('personal data', {}, server => {
  test('every table of the schema is in one of the lists, and every column of the first', async () => {
    const schema = await readSchema(server())
    const listed = [...PERSONAL_TABLES.map(({ table }) => table), ...Object.keys(OTHER_TABLES)]
    // PostgreSQL alone has this one.
    const expected = listed.filter(name => name !== 'schema_progress' || server().engine === 'postgres')
    expect([...schema.keys()].toSorted()).toEqual(expected.toSorted())
    for (const { table, columns, secrets } of PERSONAL_TABLES)
      expect([table, ...[...columns, ...secrets].toSorted()]).toEqual([
        table,
        ...(schema.get(table) ?? []).toSorted(),
      ])
  })

  test('an export has rows of every table, and no secret', async () => {
    await createPerson(server())
    const { text, body, status } = await exportOf(server(), PERSON.id)
    expect(status).toBe(200)
    const lines: Record<string, unknown>[] = body
    const rows = lines.filter(line => 'table' in line) as { table: string; row: Record<string, unknown> }[]
    expect([...new Set(rows.map(({ table }) => table))]).toEqual(PERSONAL_TABLES.map(({ table }) => table))
    for (const { table, columns, secrets } of PERSONAL_TABLES) {
      const row = rows.find(each => each.table === table)?.row ?? {}
      expect(Object.keys(row)).toEqual([...columns, ...secrets])
      for (const name of secrets) expect([table, name, WITHHELD]).toEqual([table, name, row[name] as string])
    }
    expect(text).not.toContain(SECRET)
    expect(lines[0]).toMatchObject({ person: PERSON })
    const [granted] = rows.filter(({ table }) => table === 'organization_entitlements')
    expect(granted?.row).toMatchObject({
      benefit: server().world.benefit.id,
      user_id: PERSON.id,
      fulfilled: false,
    })
    expect(granted?.row.timestamp).toMatch(/^\d{4}-\d\d-\d\dT/)
    const { summary } = lines.at(-1) as {
      summary: { rows: Record<string, number>; media_files: number; left_out: object[] }
    }
    expect(summary.rows).toMatchObject({ users: 1, follows: 1, editors: 2 })
    expect(Object.values(summary.rows).reduce((sum, each) => sum + each)).toBe(rows.length)
    expect(summary).toMatchObject({ media_files: 1, media_bytes: 0 })
    expect(lines.filter(line => 'media' in line)).toMatchObject([
      { media: { kind: 'recording', place: 'another node', bytes: null } },
    ])
    expect(summary.left_out).toHaveLength(Object.keys(OTHER_TABLES).length)
  })

  test('an export is recorded', async () => {
    const [latest] = await server().control('GET', `/audit?subject=user/${PERSON.id}&first=1`)
    expect(latest).toMatchObject({ operation: 'ExportUser', after: { data: 'exported' } })
  })

  test('what names the person is in the export, or listed with a reason', async () => {
    const known = new Set([...PERSONAL_TABLES.map(({ table }) => table), ...keptTables])
    const naming = await tablesNaming(server(), [PERSON.id, PERSON.login])
    expect(naming.filter(table => !known.has(table))).toEqual([])
  })

  test('after the deletion only tables with a reason name the user, and the report agrees', async () => {
    const report: { data: string; result: string; rows: number | null; reason: string }[] =
      await server().control('DELETE', `/users/${PERSON.id}`)
    const removed = report.filter(({ result }) => result === 'removed').map(({ data }) => data)
    const kept = report.filter(({ result }) => result === 'kept')
    expect(kept.every(({ reason }) => reason !== '')).toBe(true)
    expect(removed).toContain('follows')
    expect(kept.map(({ data }) => data)).toContain('organization_entitlements')
    const expected = PERSONAL_TABLES.map(({ table }) => table)
    expect([...removed, ...kept.map(({ data }) => data)].toSorted()).toEqual(
      [...expected, 'media', 'backups'].toSorted(),
    )
    const naming = await tablesNaming(server(), [PERSON.id, PERSON.login])
    expect(naming.filter(table => !keptTables.has(table))).toEqual([])
    expect(naming).toContain('audit')
    expect((await exportOf(server(), PERSON.id)).problem).toBe('not_found')
  })
})
