/** `strand event ...`: what operators see and do, events as they happen, and checks of a receiver alone. */
import { Database } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createEventReceiver, type ReceivedEvent } from '../../src/client/index.ts'
import { EVENT_TYPES } from '../../src/contract/events/event-types.ts'
import { Shell } from '../support/cli/shell.ts'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import { freePort } from '../support/store/postgres.ts'

const SECRET = 'a secret of 10 to 100 characters'
const OPERATOR_TOKEN = 'an-operator-token-for-these-tests'

const shell = new Shell({ STRAND_OPERATOR_TOKEN: OPERATOR_TOKEN })
const received: ReceivedEvent[] = []
const servers: { stop(force: boolean): Promise<void> }[] = []

/** A receiver on loopback; gives its URL. */
function listen(fetch: (request: Request) => Response | Promise<Response>): string {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch })
  servers.push(server)
  return `${server.url}events`
}

const goodReceiver = listen(
  createEventReceiver({
    secrets: SECRET,
    onEvent: each => {
      received.push(each)
    },
  }),
)

afterAll(async () => {
  await endAllProcesses()
  for (const server of servers) await server.stop(true)
  shell.remove()
})

const until = async (isMet: () => boolean | Promise<boolean>) => {
  while (!(await isMet())) await Bun.sleep(50)
}

describe('on a store with subscriptions', () => {
  let target = ''
  let userId = ''

  beforeAll(async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    target = `--url ${url}`
    const listening = url.replace('http://', '')
    const server = shell.start(`strand serve --listen ${listening}`, { STRAND_EVENT_CALLBACKS: 'any' })
    await server.until(({ stderr }) => stderr.includes('"serving"'))
    const [user] = await shell.ask(`strand user create lunar_otter ${target}`)
    userId = user.id
    const [client] = await shell.ask(`strand client create Overlay --kind confidential ${target}`)
    const [token] = await shell.ask(`strand token create --client ${client.id} ${target}`)
    const answer = await fetch(`${url}/helix/eventsub/subscriptions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token.access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        type: 'stream.online',
        version: '1',
        condition: { broadcaster_user_id: userId },
        transport: { method: 'webhook', callback: goodReceiver, secret: SECRET },
      }),
    })
    expect(answer.status).toBe(202)
    await until(
      async () => (await shell.ask(`strand event subscription list --status enabled ${target}`)).length === 1,
    )
    await shell.output(`strand stream start lunar_otter ${target}`)
    await until(() => received.length === 1)
  })

  test('events, messages and subscriptions are listed as tables', async () => {
    const table = async (line: string) =>
      (await shell.output(`${line} ${target}`)).split('\n').map(row => row.split(/ {2,}/))
    const [head, row, ...others] = await table('strand event list --type stream.online')
    expect(head).toEqual(['ID', 'TYPE', 'SUBJECT', 'OCCURRED AT'])
    expect(row?.slice(1, 3)).toEqual(['stream.online', userId])
    expect(others).toEqual([['']])
    const deliveries = await table('strand event delivery list --status delivered')
    expect(deliveries.slice(1, 3).map(each => each.slice(1, 5))).toEqual([
      ['notification', 'stream.online', 'delivered', '1'],
      ['webhook_callback_verification', 'stream.online', 'delivered', '1'],
    ])
    const [subscription] = await shell.ask(`strand event subscription list ${target}`)
    expect(subscription).toMatchObject({ type: 'stream.online', status: 'enabled' })
  })

  test('tail prints earlier events, then new ones, from a server or its store', async () => {
    const lines = [
      shell.start(`strand event tail ${target} --count 2 --json`),
      shell.start('strand event tail --lines 1 --count 2 --json --type stream.online'),
    ]
    for (const each of lines) await each.until(({ stdout }) => stdout.includes('\n'))
    await shell.output(`strand stream end lunar_otter ${target}`)
    await shell.output(`strand stream start lunar_otter ${target}`)
    for (const each of lines) {
      expect(await each.exit()).toBe(0)
      const events = each.stdout.trim().split('\n')
      const [first, second] = events.map(line => JSON.parse(line))
      expect(events).toHaveLength(2)
      expect(first.event.broadcaster_user_id).toBe(userId)
      expect(second.id > first.id).toBe(true)
    }
    const text = await shell.output(`strand event tail ${target} --lines 1 --count 1`)
    expect(text).toMatch(/^\d{4}-\S+Z {2}stream\.online {2,}\d+ {2}\{.*\}\n$/)
  })

  test('tail prints more new events than a page has, each once and in order', async () => {
    const shown = shell.start(`strand event tail ${target} --lines 1 --count 121 --json`)
    const { id } = JSON.parse(await shown.until(({ stdout }) => stdout.endsWith('\n') && stdout))
    const store = new Database(`${shell.data}/strand.db`)
    store.run(
      `insert into events (id, type, version, subject, occurred_at, body)
       with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < 120)
       select '${id}-' || (1000 + n), 'stream.online', '1', '1', '2026-03-01T12:00:00.000Z',
         '{"title":"\u009b31m"}' from numbers`,
    )
    store.close()
    expect(await shown.exit()).toBe(0)
    const lines = shown.stdout.trim().split('\n').slice(1)
    const ids = lines.map(line => JSON.parse(line).id)
    const text = await shell.output(`strand event tail ${target} --lines 1 --count 1`)
    expect(text).toContain('{"title":"\\u{9b}31m"}')
    expect(ids).toEqual(Array.from({ length: 120 }, (_, n) => `${id}-${1001 + n}`))
  })

  test('a message is resent, and all since a time replayed, with ids that the receiver knows', async () => {
    const rows = await shell.ask(`strand event delivery list ${target}`)
    const notification = rows.find(row => row.kind === 'notification')
    const before = received.length
    expect(await shell.output(`strand event delivery resend ${notification.id} ${target}`)).toContain(
      'pending',
    )
    const [{ messages }] = await shell.ask(`strand event replay 2026-01-01T00:00:00Z ${target}`)
    expect(messages).toBeGreaterThan(0)
    await until(
      async () => (await shell.ask(`strand event delivery list --status pending ${target}`)).length === 0,
    )
    expect(received).toHaveLength(before)
    const refused = await shell.run(`strand event delivery resend nothing ${target}`)
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('"nothing"')])
  })

  test('a subscription is deleted with --yes, and not without', async () => {
    const [{ id }] = await shell.ask(`strand event subscription list ${target}`)
    expect((await shell.run(`strand event subscription delete ${id} ${target}`)).code).toBe(2)
    await shell.output(`strand event subscription delete ${id} --yes ${target}`)
    expect(await shell.ask(`strand event subscription list ${target}`)).toEqual([])
    expect(await shell.ask(`strand event delivery list ${target}`)).toEqual([])
  })
})

describe('trigger', () => {
  const trigger = (type: string, url: string, more = '') =>
    shell.run(`strand event trigger ${type} --to ${url} --secret "${SECRET}" ${more}`)

  test('sends a signed sample of any type, about any subject', async () => {
    received.length = 0
    for (const { type } of EVENT_TYPES) {
      const { code, stdout } = await trigger(type, goodReceiver)
      expect([type, code, stdout]).toEqual([type, 0, expect.stringMatching(/^204 after \d+ ms\n$/)])
    }
    expect(received.map(each => each.type)).toEqual(EVENT_TYPES.map(each => each.type))
    for (const [index, { example }] of EVENT_TYPES.entries())
      expect(received[index]?.event).toEqual(example as never)
    const { stdout } = await trigger('stream.offline', goodReceiver, '--subject 4711 --json')
    expect(JSON.parse(stdout)).toEqual({ status: 204, milliseconds: expect.any(Number) })
    const last = received.at(-1)
    expect([last?.subscription.condition, last?.event]).toEqual([
      { broadcaster_user_id: '4711' },
      expect.objectContaining({ broadcaster_user_id: '4711' }),
    ])
  })

  test('exits with 1 if the receiver refuses or does not answer, with 2 if it was called wrongly', async () => {
    const refusing = await trigger(
      'stream.online',
      listen(() => new Response(null, { status: 500 })),
    )
    expect([refusing.code, refusing.stdout]).toEqual([1, expect.stringMatching(/^500 after/)])
    const nowhere = await trigger('stream.online', `http://127.0.0.1:${await freePort()}/`)
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining('did not answer')])
    shell.write('short.txt', 'short\n')
    shell.write('secret.txt', `${SECRET}\n`)
    const wrong = [
      `trigger stream.online --to ${goodReceiver}`,
      `trigger stream.online --to ${goodReceiver} --secret short`,
      `trigger stream.online --to ${goodReceiver} --secret-file short.txt`,
      `trigger stream.online --to ${goodReceiver} --secret "${SECRET}" --secret-file secret.txt`,
      `trigger no.such.type --to ${goodReceiver} --secret "${SECRET}"`,
      `trigger stream.online --to file:///etc/passwd --secret "${SECRET}"`,
      `verify ${goodReceiver} --secret "${SECRET}" --type no.such.type`,
      'tail --type no.such.type',
    ]
    for (const line of wrong)
      expect([line, (await shell.run(`strand event ${line}`)).code]).toEqual([line, 2])
    const fromFile = `strand event trigger stream.online --to ${goodReceiver} --secret-file secret.txt`
    expect((await shell.run(fromFile)).code).toBe(0)
  })
})

describe('verify', () => {
  const verify = (url: string, more = '') =>
    shell.run(`strand event verify ${url} --secret "${SECRET}" ${more}`)

  test('finds nothing wrong with the receiver of strand-server/client', async () => {
    const { code, stdout } = await verify(goodReceiver)
    expect([code, stdout.trim().split('\n')]).toEqual([0, Array(8).fill(expect.stringMatching(/^ok {7}\w/))])
    expect((await verify(goodReceiver, '--type drop.entitlement.grant')).code).toBe(0)
  })

  const bad: [string, (request: Request) => Response | Promise<Response>, string[]][] = [
    [
      'takes everything, and answers a verification with nothing',
      () => new Response(null, { status: 204 }),
      [
        'answers a verification with its challenge',
        'refuses a false signature',
        'refuses a message without a signature',
        'refuses an id that was not signed',
        'refuses a message that is older than 10 minutes',
      ],
    ],
    [
      'refuses what it has seen',
      (() => {
        const seen = new Set<string>()
        const good = createEventReceiver({ secrets: SECRET, onEvent: () => undefined })
        return (request: Request) => {
          const id = request.headers.get('twitch-eventsub-message-id') ?? ''
          if (seen.has(id)) return new Response(null, { status: 409 })
          seen.add(id)
          return good(request)
        }
      })(),
      ['takes the same notification again'],
    ],
    [
      'knows another secret',
      createEventReceiver({ secrets: 'another secret', onEvent: () => undefined }),
      [
        'answers a verification with its challenge',
        'takes a notification',
        'takes the same notification again',
        'takes a revocation',
      ],
    ],
  ]
  for (const [name, answer, problems] of bad) {
    test(`finds out a receiver that ${name}`, async () => {
      const { code, stdout, stderr } = await verify(listen(answer), '--json')
      const { findings } = JSON.parse(stdout) as { findings: { check: string; problem?: string }[] }
      const found = findings.filter(each => each.problem !== undefined).map(each => each.check)
      expect(found).toEqual(problems)
      expect([code, stderr]).toEqual([1, expect.stringContaining(`${problems.length} problem`)])
    })
  }

  test('one that does not answer is one problem', async () => {
    const { code, stdout } = await verify(`http://127.0.0.1:${await freePort()}/`)
    expect([code, stdout.trim().split('\n')]).toEqual([1, [expect.stringMatching(/^problem {2}answers/)]])
  })
})
