/** One list of columns for each resource: what follows from it, and where a setting of a channel or a user has to be. */
import { describe, expect, test } from 'bun:test'
import { verbs } from '../../src/cli/verbs/table.ts'
import { tables } from '../../src/contract/admin/index.ts'
import { patchChannel } from '../../src/contract/control/channels.ts'
import { putUser } from '../../src/contract/control/users.ts'
import { Channel, channelSettings } from '../../src/contract/resources/channel.ts'
import { transferLines } from '../../src/contract/resources/transfer.ts'
import { User, userSettings } from '../../src/contract/resources/user.ts'
import { actionFields } from '../../src/site/console/input-fields.ts'
import { Columns, fixed, flag, json, plain, reference } from '../../src/store/columns.ts'
import type { Transaction } from '../../src/store/database.ts'
import { channelColumns } from '../../src/store/queries/channels.ts'
import { userColumns } from '../../src/store/queries/users.ts'
import { sqliteDialect } from '../../src/store/sql/dialects.ts'
import { render, type Sql } from '../../src/store/sql/tag.ts'

interface Shelf {
  readonly id: string
  readonly name: string
  readonly owner_id: string
  readonly game_id: string
  readonly labels: readonly string[]
  readonly is_open: boolean
}

const columns = new Columns<Shelf>(
  'shelves',
  {
    id: plain,
    name: plain,
    owner_id: fixed,
    game_id: reference('game_id'),
    labels: json('label_list'),
    is_open: flag,
  },
  { name_upper: ({ name }) => name.toUpperCase() },
)
const shelf: Shelf = { id: '7', name: 'reef', owner_id: '1', game_id: '', labels: ['a', 'b'], is_open: true }

/** The statements that work runs, as text and values. */
async function statements(work: (tx: Transaction) => Promise<unknown>) {
  const run: { text: string; values: unknown[] }[] = []
  const tx = {
    run: async (statement: Sql) => {
      const { text, values } = render(statement, sqliteDialect)
      run.push({ text: text.replace(/\s+/g, ' '), values: [...values] })
      return 1
    },
  } as unknown as Transaction
  await work(tx)
  return run
}

describe('a list of columns', () => {
  test('selects fields under their names, and reads a row back', () => {
    expect(render(columns.select, sqliteDialect).text).toBe(
      "select id, name, owner_id, coalesce(game_id, '') as game_id, label_list as labels, is_open from shelves",
    )
    const stored = { id: '7', name: 'reef', owner_id: '1', game_id: '', labels: '["a","b"]', is_open: 1 }
    expect(columns.read(stored) as Shelf).toEqual(shelf)
  })

  test('inserts rows with computed and further columns', async () => {
    expect(await statements(tx => columns.insert(tx, [shelf], () => ({ secret: 'x' })))).toEqual([
      {
        text: 'insert into shelves (id, name, owner_id, game_id, label_list, is_open, name_upper, secret) values (?, ?, ?, ?, ?, ?, ?, ?)',
        values: ['7', 'reef', '1', null, '["a","b"]', 1, 'REEF', 'x'],
      },
    ])
    expect(await statements(tx => columns.insert(tx, []))).toEqual([])
  })

  test('updates all columns but the key and those that never change', async () => {
    expect(await statements(tx => columns.update(tx, { ...shelf, game_id: '33', is_open: false }))).toEqual([
      {
        text: 'update shelves set name = ?, game_id = ?, label_list = ?, is_open = ?, name_upper = ? where id = ?',
        values: ['reef', '33', '["a","b"]', 0, 'REEF', '7'],
      },
    ])
  })
})

describe('a setting is in the request, the answer, the columns, lines of an import, a flag and a form', () => {
  const cases = [
    ['channel', channelSettings, Channel, channelColumns, patchChannel, 'channel edit', 'channel'],
    ['user', userSettings, User, userColumns, putUser, 'user set', 'edit'],
  ] as const
  for (const [type, settings, resource, list, operation, words, path] of cases)
    test(type, () => {
      const names = Object.keys(settings)
      const form = tables.find(each => each.path === 'users')?.actions?.find(each => each.form.path === path)
      if (form === undefined) throw new Error(`no form ${path}`)
      const places = {
        request: Object.keys(operation.body.properties),
        answer: Object.keys(resource.properties),
        columns: render(list.from('c'), sqliteDialect)
          .text.split(', ')
          .map(each => each.slice(2)),
        line: Object.keys(transferLines[type].properties),
        flags: verbs.find(each => each.words === words)?.fields.map(({ name }) => name) ?? [],
        form: actionFields(form, true).map(({ name }) => name),
      }
      expect(names.length).toBeGreaterThan(3)
      for (const [place, has] of Object.entries(places))
        expect([place, names.filter(name => !has.includes(name))]).toEqual([place, []])
    })
})
