/**
 * Events survive `kill -9`. Users follow channels while the server is killed every few seconds; at the end the follows in the
 * store and the events at the receiver must be the same. Follows are never removed, so the store knows which changes were
 * committed, also those whose answer got lost.
 *
 * A longer run: TEST_KILL_SECONDS=120 TEST_KILL_EVENTS=5000
 */
import { afterAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { createEventReceiver } from '../../src/client/index.ts'
import { Node } from '../support/cli/nodes.ts'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import { createStorePlace, type EngineName, engines, executeIn, type StorePlace } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'
import { until } from './receiver.ts'

const SECONDS = Number(process.env.TEST_KILL_SECONDS || 15)
const EVENTS = Number(process.env.TEST_KILL_EVENTS || 1000)
const CHANNELS = 20
const WRITERS = 4
const MIN_KILL_MILLISECONDS = 2000
const MAX_KILL_MILLISECONDS = 5000
/** Requests that a dispatcher has in progress at one receiver. */
const SLOTS = 8
const SECRET = 'a secret of 10 to 100 characters'

afterAll(endAllProcesses)

interface Follow {
  readonly user_id: string
  readonly broadcaster_id: string
}

const nameOf = ({ user_id, broadcaster_id }: Follow) => `${user_id} follows ${broadcaster_id}`

/** The receiver of the client library, and what it was sent. */
class FollowReceiver {
  /** How often each event was passed on. */
  readonly follows = new Map<string, number>()
  /** How often each message came. */
  readonly messages = new Map<string, number>()
  refused = 0
  readonly #server: ReturnType<typeof Bun.serve>

  constructor() {
    const receive = createEventReceiver({
      secrets: SECRET,
      onEvent: received => {
        if (received.type !== 'channel.follow') return
        const { user_id, broadcaster_user_id } = received.event
        count(this.follows, nameOf({ user_id, broadcaster_id: broadcaster_user_id }))
      },
    })
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: async request => {
        const answer = await receive(request)
        if (!answer.ok) this.refused += 1
        else if (request.headers.get('twitch-eventsub-message-type') === 'notification')
          count(this.messages, request.headers.get('twitch-eventsub-message-id') ?? '')
        return answer
      },
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/`
  }

  get duplicates(): number {
    return [...this.messages.values()].reduce((sum, times) => sum + times - 1, 0)
  }

  stop(): Promise<void> {
    return this.#server.stop(true)
  }
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

async function nodeAt({ folder, databaseUrl }: StorePlace): Promise<Node> {
  return new Node(await freePort(), await freePort(), {
    STRAND_DATA: folder,
    STRAND_OPERATOR_TOKEN: 'an-operator-token-for-this-test',
    STRAND_MASTER_KEYS: `test:${randomBytes(32).toString('base64')}`,
    STRAND_EVENT_CALLBACKS: 'any',
    STRAND_RATE_APP: '0',
    STRAND_LOG: 'info',
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  })
}

/** Users, channels and a subscription to the follows of each. Gives the follows to make. */
async function prepare(node: Node, callback: string): Promise<Follow[]> {
  const { id: client_id } = await node.control('POST', '/clients', { name: 'Back end' })
  const { access_token } = await node.control('POST', '/tokens', { client_id })
  const users = Array.from({ length: Math.ceil(EVENTS / CHANNELS) }, (_, n) => String(1000 + n))
  const channels = Array.from({ length: CHANNELS }, (_, n) => String(900_000 + n))
  for (const id of [...users, ...channels]) await node.control('PUT', `/users/${id}`, { login: `user_${id}` })
  for (const user_id of channels) {
    const scopes = ['moderator:read:followers']
    await node.control('POST', '/tokens', { client_id, user_id, scopes })
    const answer = await fetch(`http://127.0.0.1:${node.port}/helix/eventsub/subscriptions`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${access_token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({
        type: 'channel.follow',
        version: '2',
        condition: { broadcaster_user_id: user_id, moderator_user_id: user_id },
        transport: { method: 'webhook', callback, secret: SECRET },
      }),
    })
    if (answer.status !== 202) throw new Error(`subscribing answered ${await answer.text()}`)
  }
  return users.flatMap(user_id => channels.map(broadcaster_id => ({ user_id, broadcaster_id })))
}

/** Makes follows at an even pace, each until it is answered; gives those that were. Each tenth is in a list that is refused. */
async function makeFollows(node: Node, follows: readonly Follow[]): Promise<string[]> {
  const answered: string[] = []
  const pause = (SECONDS * 1000 * WRITERS) / follows.length
  const make = async (follow: Follow, isRefused: boolean): Promise<boolean> => {
    try {
      if (isRefused)
        await node.control('POST', '/follows', { follows: [follow, { ...follow, user_id: '1' }] })
      else await node.control('PUT', `/users/${follow.user_id}/follows/${follow.broadcaster_id}`, {})
      answered.push(nameOf(follow))
      return true
    } catch (error) {
      return String(error).includes(' answered 4')
    }
  }
  const write = async (writer: number) => {
    for (let index = writer; index < follows.length; index += WRITERS) {
      const due = Bun.sleep(pause)
      while (!(await make(follows[index] as Follow, index % 10 === 0))) await Bun.sleep(50)
      await due
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
  return answered
}

async function killUntil(node: Node, isOver: () => boolean): Promise<number> {
  let kills = 0
  for (;;) {
    const range = MAX_KILL_MILLISECONDS - MIN_KILL_MILLISECONDS
    await Bun.sleep(MIN_KILL_MILLISECONDS + Math.random() * range)
    if (isOver()) return kills
    await node.stop('SIGKILL')
    kills += 1
    await node.start()
  }
}

async function survivesKills(engine: EngineName): Promise<void> {
  const place = await createStorePlace(engine)
  const receiver = new FollowReceiver()
  const node = await nodeAt(place)
  await node.start()
  const follows = await prepare(node, receiver.url)
  const enabled = `select 1 from event_subscriptions where status = 'enabled'`
  await until(async () => (await executeIn(place, enabled)).length === CHANNELS)

  let isOver = false
  const following = makeFollows(node, follows).finally(() => {
    isOver = true
  })
  // Together: without the node, which might not start again, follows are made without end.
  const [answered, kills] = await Promise.all([following, killUntil(node, () => isOver)])
  // A message that was claimed when the server was killed is sent again when its claim ends.
  const pending = 'select 1 from event_deliveries where due_at is not null limit 1'
  await until(async () => (await executeIn(place, pending)).length === 0)
  await node.stop()

  const committed: Follow[] = await executeIn(place, 'select user_id, broadcaster_id from follows')
  const stored = new Set(committed.map(nameOf))
  const received = new Set(receiver.follows.keys())
  const twice = [...receiver.follows].filter(([, times]) => times > 1)
  process.stderr.write(
    `${engine}: ${kills} kills, ${answered.length} changes answered, ${stored.size} committed, ` +
      `${received.size} events received, ${receiver.duplicates} messages came again\n`,
  )
  expect({
    lost: answered.filter(name => !stored.has(name)),
    missing: [...stored.difference(received)],
    phantom: [...received.difference(stored)],
    twice,
    refused: receiver.refused,
  }).toEqual({ lost: [], missing: [], phantom: [], twice: [], refused: 0 })
  expect(kills).toBeGreaterThanOrEqual(2)
  expect(receiver.duplicates).toBeLessThanOrEqual(kills * SLOTS)
  await receiver.stop()
  await place.remove()
}

for (const engine of engines)
  test.concurrent(
    `no event is missing, invented or changed when the server on ${engine} is killed again and again`,
    () => survivesKills(engine),
    (SECONDS * 2 + 120) * 1000,
  )
