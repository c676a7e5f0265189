/** Ten thousand WebSockets on one node, all with a subscription, of which nearly all are idle. */
import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Node } from '../support/cli/nodes.ts'
import { endAllProcesses, STRAND } from '../support/cli/strand-process.ts'
import { EventClient } from '../support/server/event-client.ts'
import { createStorePlace } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'

const SOCKETS = Number(process.env.TEST_SOCKETS || 10_000)
const BATCH_SIZE = 200
/** Clients have this long to subscribe. */
const UNUSED_MILLISECONDS = 10_000
/** Of the resident memory of the process; 2.0 were measured on Linux with two cores. */
const MAX_KIB_PER_SOCKET = 10
const BROADCASTER = '1000'

afterAll(endAllProcesses)

/** Descriptors are limited to a thousand on many systems; each end of a connection takes one. */
const withDescriptors = (command: readonly string[]) => [
  'sh',
  '-c',
  'ulimit -n $(ulimit -Hn) && exec "$@"',
  'sh',
  ...command,
]

/** What a process may have here at most, on either side of the connections. */
function maxDescriptors(): number {
  if (process.platform !== 'linux') return 0
  return Number(/^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 0)
}

function residentKib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
}

/** Subscriptions of sessions for the channel of another user, past the server: an application has at most three for a user. */
function subscribeAll(file: string, sessions: readonly string[], client_id: string): void {
  using database = new Database(file)
  database.run('pragma busy_timeout = 5000')
  const insert = database.prepare(
    `insert into event_subscriptions (id, client_id, owner, type, version, condition, topic, status, cost, method,
       session_id, connected_at, target, identity, created_at)
     values (?, ?, 'x', 'stream.online', '1', '{"broadcaster_user_id":"1"}', 'stream.online/1/1', 'enabled', 0, 'websocket',
       ?, '', 'websocket:' || ?, ?, '')`,
  )
  database.transaction(() => {
    for (const id of sessions) insert.run(crypto.randomUUID(), client_id, id, id, id)
  })()
}

test.skipIf(maxDescriptors() < SOCKETS * 1.2)(
  '10,000 sockets are welcomed, take little memory, and do not delay an event',
  async () => {
    const place = await createStorePlace('sqlite')
    const node = new Node(await freePort(), await freePort(), {
      STRAND_DATA: place.folder,
      STRAND_OPERATOR_TOKEN: 'an-operator-token-for-this-test',
    })
    await node.start(withDescriptors(STRAND))
    await node.control('PUT', `/users/${BROADCASTER}`, { login: 'channel' })
    const { id: client_id } = await node.control('POST', '/clients', { name: 'Back end' })
    const { access_token } = await node.control('POST', '/tokens', { client_id, user_id: BROADCASTER })
    const before = residentKib(node.pid)

    const clients: EventClient[] = []
    let waiting: string[] = []
    let subscribedAt = performance.now()
    const file = join(place.folder, 'strand.db')
    while (clients.length < SOCKETS) {
      const opened = await Promise.all(
        Array.from({ length: BATCH_SIZE }, (_, n) =>
          // Another address for each few thousand, because each has only so many ports.
          EventClient.connect(`ws://127.0.0.1:${node.port}/ws`, { from: `127.0.0.${2 + (n % 8)}` }),
        ),
      )
      waiting.push(...(await Promise.all(opened.map(client => client.sessionId()))))
      clients.push(...opened)
      if (performance.now() - subscribedAt < UNUSED_MILLISECONDS / 4 && clients.length < SOCKETS) continue
      subscribeAll(file, waiting, client_id)
      waiting = []
      subscribedAt = performance.now()
    }
    // None was closed for being unused.
    await Bun.sleep(UNUSED_MILLISECONDS + 2000)
    expect(clients.filter(client => client.ended).length).toBe(0)
    const after = residentKib(node.pid)
    const kibPerSocket = (after - before) / SOCKETS
    process.stderr.write(
      `${SOCKETS} sockets: ${kibPerSocket.toFixed(1)} KiB each, of ${before} to ${after} KiB\n`,
    )
    expect(kibPerSocket).toBeLessThan(MAX_KIB_PER_SOCKET)

    const client = await EventClient.connect(`ws://127.0.0.1:${node.port}/ws`)
    const answer = await fetch(`http://127.0.0.1:${node.port}/helix/eventsub/subscriptions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        type: 'channel.update',
        version: '2',
        condition: { broadcaster_user_id: BROADCASTER },
        transport: { method: 'websocket', session_id: await client.sessionId() },
      }),
    })
    expect(answer.status).toBe(202)
    const waits: number[] = []
    for (let turn = 0; turn < 5; turn++) {
      const begun = performance.now()
      await node.control('PATCH', `/channels/${BROADCASTER}`, { title: `Among many ${turn}` })
      await client.message('notification', turn)
      waits.push(performance.now() - begun)
    }
    process.stderr.write(`an event arrived after ${waits.map(wait => Math.round(wait)).join(', ')} ms\n`)
    expect(waits.sort((one, other) => one - other)[2]).toBeLessThan(1000)
    for (const each of [...clients, client]) each.destroy()
    await node.stop('SIGKILL')
    await place.remove()
  },
  120_000,
)
