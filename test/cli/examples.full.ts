/** Every example of every verb's help is run, unchanged but for the names of this machine. */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { verbs } from '../../src/cli/verbs/table.ts'
import { exampleDelivery, exampleOperatorSubscription } from '../../src/contract/resources/event.ts'
import { leaves } from '../support/cli/command-tree.ts'
import { Shell } from '../support/cli/shell.ts'
import { endAllProcesses, ROOT } from '../support/cli/strand-process.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'

/** Commands whose examples another test runs. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  healthcheck: 'test/cli/healthcheck.test.ts',
  'media check': 'test/maintenance/doctor.test.ts',
  'event tail': 'test/cli/events.full.ts',
  'event trigger': 'test/cli/events.full.ts',
  'event verify': 'test/cli/events.full.ts',
  'stream kick': 'test/operations/control/publishers.test.ts',
  logout: 'test/cli/profiles.full.ts',
  'profile use': 'test/cli/profiles.full.ts',
  open: 'test/cli/profiles.full.ts',
  ...Object.fromEntries(
    [
      'backup',
      'restore',
      'verify',
      'doctor',
      'config',
      ...['list', 'add', 'promote', 'reseal', 'retire', 'drop-signing-keys'].map(verb => `key-ring ${verb}`),
    ].map(words => [words, 'test/maintenance/examples.full.ts']),
  ),
}

/** What stands in the examples for something that only exists once it was made. */
const CLIENT = 'reefdrops0fulfilment0backend01'
const VIDEO = '1234567890'

const shell = new Shell()
const real = new Map<string, string>()
let place: StorePlace | undefined

beforeAll(async () => {
  shell.write('viewers.json', '{"counts": {"141981764": 1300}}')
  shell.write('follows.json', '{"follows": [{"user_id": "25009227", "broadcaster_id": "141981764"}]}')
  shell.write(
    'grants.json',
    '{"grants": [{"user_id": "25009227", "benefit_id": "74c52265-e214-48a6-91b9-23b6014e8041", "game_id": "33214"}]}',
  )
  shell.write(
    'campaign.json',
    JSON.stringify({
      name: 'Reef week',
      organization_id: '5c0f4d0e-9d4a-4f0e-8a57-2f4f6ad0c3a1',
      game_id: '33214',
      starts_at: '2099-03-01T12:00:00Z',
      ends_at: '2099-03-08T12:00:00Z',
      drops: [
        {
          id: '5d0c1f63-5f0b-4c56-9a3b-0f3f8f2f6a01',
          name: 'Thirty minutes',
          required_minutes: 30,
          benefit_ids: ['74c52265-e214-48a6-91b9-23b6014e8041'],
        },
      ],
    }),
  )
  shell.write('scenario.json', readFileSync(join(ROOT, 'docs/scenarios/drops.json'), 'utf8'))
  shell.write('new-password.txt', 'correct horse battery\n')
  mkdirSync(shell.data)
  if (engines.includes('postgres')) place = await createStorePlace('postgres', { empty: true })
  const port = await freePort()
  const demo = shell.start(`strand demo --port ${port} --streams 5 --json`)
  const world = JSON.parse(await demo.until(({ stdout }) => stdout.endsWith('\n') && stdout))
  shell.write('operator-token', `${world.operator_token}\n`)
  real.set('http://localhost:8080', world.base_url)
  real.set('/var/lib/strand', shell.data)
  await shell.output(`strand migrate --data ${shell.data}`)
  makeSubscription(join(shell.data, 'strand.db'))
})
afterAll(async () => {
  await endAllProcesses()
  shell.remove()
  await place?.remove()
})

/** The subscription of the examples, with a message: only an application can make one, by the API of a server. */
function makeSubscription(file: string): void {
  const store = new Database(file)
  store.run(
    `insert into event_subscriptions
       (id, client_id, owner, type, version, condition, topic, status, cost, method, callback, target, identity, created_at)
     values ('${exampleOperatorSubscription.id}', 'none', '', 'stream.online', '1', '{}', 'none', 'enabled', 1, 'webhook',
       'https://example.com/events', 'none', 'none', '2026-03-01T12:00:00.000Z')`,
  )
  store.run(
    `insert into event_deliveries
       (id, message, kind, subscription_id, target, status, attempts, created_at, finished_at)
     values ('${exampleDelivery.id}', '${exampleDelivery.id}', 'notification', '${exampleOperatorSubscription.id}', 'none',
       'failed', 7, '2026-03-01T12:00:00.000Z', '2026-03-01T21:00:00.000Z')`,
  )
  store.close()
}

/** Keeps what later examples need. */
function remember(words: string, printed: string): void {
  const field = (name: string) => new RegExp(`^${name} +(\\S+)$`, 'm').exec(printed)?.[1]
  if (words === 'client create' && !real.has(CLIENT)) real.set(CLIENT, field('id') ?? '')
  if (words === 'video list') real.set(VIDEO, /^(\d+)/m.exec(printed)?.[1] ?? '')
  if (words === 'token create') shell.write('token.txt', `${field('access_token')}\n`)
}

async function runExample(words: string, example: string): Promise<void> {
  let line = example
  for (const [sample, value] of real) line = line.replaceAll(sample, value)
  const { code, stdout, stderr } = await shell.run(line, { STRAND_DATA: shell.data })
  expect([line, code, stderr.split('\n').filter(each => /^(strand|error):/.test(each))]).toEqual([
    line,
    0,
    [],
  ])
  remember(words, stdout)
}

const tree = await leaves()
const inTable = new Map(verbs.map(verb => [verb.words, verb]))
const others = tree.filter(({ words }) => !inTable.has(words) && ELSEWHERE[words] === undefined)

describe('the examples of the verbs, in the order of the table; what deletes, backwards at the end', () => {
  const deletes = verbs.filter(verb => verb.operation.method === 'DELETE').reverse()
  const makes = verbs.filter(verb => verb.operation.method !== 'DELETE')
  for (const { words } of [...makes, ...deletes].filter(each => ELSEWHERE[each.words] === undefined)) {
    test(`strand ${words}`, async () => {
      const { examples = [] } = tree.find(leaf => leaf.words === words) ?? {}
      expect(examples.length).toBeGreaterThan(0)
      for (const example of examples) await runExample(words, example)
    })
  }
})

describe('the examples of the other commands', () => {
  const serving = ['demo', 'serve']
  const isEnding = ({ words }: { words: string }) => ![...serving, 'migrate'].includes(words)

  test('what is listed as run elsewhere is', () => {
    for (const [words, file] of Object.entries(ELSEWHERE)) {
      const last = words.split(' ').at(-1) ?? ''
      expect([words, existsSync(file) && readFileSync(file, 'utf8').includes(last)]).toEqual([words, true])
    }
  })

  for (const { words, examples } of others.filter(isEnding)) {
    test(`strand ${words}`, async () => {
      for (const example of examples) await runExample(words, example)
    })
  }

  for (const { words, examples } of others.filter(leaf => !isEnding(leaf))) {
    // That of a demo which runs already is in strand.test.ts.
    for (const example of examples.filter(each => !each.endsWith(' --lines'))) {
      const needsPostgres = example.includes('postgres://')
      test.skipIf(needsPostgres && !engines.includes('postgres'))(example, async () => {
        const line = await onThisMachine(example)
        if (words === 'migrate') {
          expect((await shell.run(line)).code).toBe(0)
          return
        }
        const strand = shell.start(line)
        await strand.until(
          ({ stdout, stderr }) => /Strand is serving|"base_url"/.test(stdout) || stderr.includes('"serving"'),
        )
        expect(await strand.end('SIGTERM')).toBe(0)
      })
    }
  }

  /** Ports that are free, addresses that only this machine reaches, and the store of this test. */
  async function onThisMachine(example: string): Promise<string> {
    let line = example
      .replace(/postgres:\/\/\S+/, place?.databaseUrl ?? '')
      .replace('/var/lib/strand', `${shell.folder}/elsewhere`)
    for (const address of [/0\.0\.0\.0:8080/, /localhost:8081/])
      line = line.replace(address, `127.0.0.1:${await freePort()}`)
    line = line.replace(/--port \d+/, `--port ${await freePort()}`)
    line = line.replace(/127\.0\.0\.1:9000/, `127.0.0.1:${await freePort()}`)
    if (line.startsWith('strand demo') && !/--(?:port|listen)/.test(line))
      line += ` --port ${await freePort()}`
    if (/strand serve/.test(line) && !/--(?:port|listen)/.test(line))
      line += ` --listen 127.0.0.1:${await freePort()}`
    return line
  }
})
