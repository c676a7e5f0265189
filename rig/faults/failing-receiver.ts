/** F27. A receiver of webhooks fails while very many messages wait for it. Others must not notice. */
import { Database } from 'bun:sqlite'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SQL } from 'bun'
import { startPostgres } from '../../test/support/store/postgres.ts'
import { createLoneNode, type LoneNode } from '../cluster/lone-node.ts'
import { outcomeOf } from '../load/caller.ts'
import { makeWorld, type World } from '../world.ts'
import type { Finding, Site, Trial } from './fault.ts'
import { atMost, longestWait, noted, percentile, shown } from './findings.ts'

const WAITING = { quick: 20_000, usual: 1_000_000 } as const
const WRITERS = 4
/** How often the writes are measured, in turns of a few seconds: the best turn has the least of other work on the machine. */
const TURNS = 3
const IDLE_MILLISECONDS = 5000
const STREAMS = 100
/** Of `/proc/<pid>/stat`, on every Linux. */
const TICKS_PER_SECOND = 100

type Execute = (statement: string) => Promise<readonly unknown[]>

export const failingReceiver: Trial = {
  name: 'failing-receiver',
  what: 'a receiver of webhooks fails while very many messages wait for it',
  seconds: pace => 2 * (30 + 2 * TURNS * turnSeconds(pace.seconds) + WAITING[pace.name] / 20_000),
  run: async site => {
    const postgres = await startPostgres()
    site.lifetime.onClose(() => postgres.stop())
    return [...(await strike('sqlite', site)), ...(await strike('postgres', site, postgres.url))]
  },
}

const turnSeconds = (seconds: number) => Math.ceil(seconds / 4)

async function strike(engine: string, site: Site, databaseUrl?: string): Promise<Finding[]> {
  const waiting = WAITING[site.pace.name]
  const receiver = startFailingReceiver()
  site.lifetime.onClose(() => receiver.stop(true))
  const lone = await createLoneNode(site, `failing-receiver-${engine}`, {
    STRAND_EVENT_CALLBACKS: 'any',
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  })
  const { node, caller, operatorToken, data } = lone
  await node.start()
  const world = await makeWorld(caller, node.url, operatorToken, STREAMS)
  const subscription = await subscribeFailing(lone, world, `http://127.0.0.1:${receiver.port}/`)
  const seconds = turnSeconds(site.pace.seconds)
  const before = await measure(lone, world, seconds)
  const { execute, close } = openDatabase(join(data, 'strand.db'), databaseUrl)
  await node.stop()
  await addWaiting(execute, subscription, waiting)
  await node.start()
  const received = receiver.count()
  const meanwhile = await measure(lone, world, seconds)
  const attempts = receiver.count() - received
  const busy = await busyShare(node.pid, databaseUrl === undefined ? undefined : execute)
  const [row] = (await execute(
    `select count(*) as n from event_deliveries where subscription_id = '${subscription}' and due_at is not null`,
  )) as { n: number | string }[]
  await close()
  await node.stop()
  const on = `${engine}, ${shown(Number(row?.n))} messages waiting`
  return [
    {
      asked: `${on}: writes per second of others, without and with them`,
      measured: `${shown(before.rate)}, ${shown(meanwhile.rate)}`,
      goal: 'at least 0.9 of it',
      verdict: meanwhile.rate >= 0.9 * before.rate ? 'held' : 'broken',
      isOfSpeed: true,
    },
    {
      asked: `${on}: p99 of these writes, without and with them`,
      measured: `${shown(before.p99)} ms, ${shown(meanwhile.p99)} ms`,
      goal: 'at most 1.5 times',
      verdict: meanwhile.p99 <= 1.5 * before.p99 ? 'held' : 'broken',
      isOfSpeed: true,
    },
    atMost(`${on}: writes of others that failed`, before.failed + meanwhile.failed, 0),
    { ...atMost(`${on}: processor time of an idle server`, 100 * busy, 5, ' %'), isOfSpeed: true },
    noted(`${on}: attempts at the receiver meanwhile`, shown(attempts)),
  ]
}

/** Agrees to messages, and takes none. */
function startFailingReceiver() {
  let count = 0
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async request => {
      const { challenge } = (await request.json()) as { challenge?: string }
      if (challenge !== undefined) return new Response(challenge)
      count += 1
      return new Response(null, { status: 500 })
    },
  })
  return { port: server.port, count: () => count, stop: (now: boolean) => server.stop(now) }
}

/** Gives the id of a subscription that has a message which could not be delivered. */
async function subscribeFailing({ caller, operatorToken }: LoneNode, world: World, callback: string) {
  const [user_id = ''] = world.silent
  const made = await caller.must('setting up', 'POST', '/helix/eventsub/subscriptions', {
    token: world.appToken,
    body: {
      type: 'channel.update',
      version: '2',
      condition: { broadcaster_user_id: user_id },
      transport: { method: 'webhook', callback, secret: 'a secret of the rig' },
    },
  })
  const { id } = made.body.data[0]
  const isEnabled = async () => {
    const path = '/control/event-subscriptions'
    const { body } = await caller.must('setting up', 'GET', path, { token: operatorToken })
    return (body.data as { id: string; status: string }[]).some(
      each => each.id === id && each.status === 'enabled',
    )
  }
  while (!(await isEnabled())) await Bun.sleep(50)
  const body = { title: 'Not delivered' }
  await caller.must('setting up', 'PATCH', `/control/channels/${user_id}`, { token: operatorToken, body })
  return id as string
}

function openDatabase(file: string, url: string | undefined): { execute: Execute; close(): Promise<void> } {
  if (url !== undefined) {
    const client = new SQL(url, { max: 1 })
    return { execute: statement => client.unsafe(statement), close: () => client.close() }
  }
  const open = <T>(work: (database: Database) => T) => {
    using database = new Database(file)
    return work(database)
  }
  return { execute: async text => open(database => database.query(text).all()), close: async () => undefined }
}

/** Copies the message of the subscription, into the queue of what waits for its receiver. */
async function addWaiting(execute: Execute, subscription: string, count: number): Promise<void> {
  await execute(
    `insert into event_deliveries
       (id, message, kind, subscription_id, event_seq, target, lane, status, attempts, due_at, waits_in, created_at)
     with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
     select 'rig' || n, 'rig' || n, kind, subscription_id, event_seq, target, lane, 'pending', 0, 1, subscription_id, created_at
     from numbers, (select * from event_deliveries
                    where subscription_id = '${subscription}' and kind = 'notification' limit 1) as one`,
  )
  await execute(
    `insert into event_queues (name, next_at, failures) values ('${subscription}', 1, 1)
     on conflict (name) do update set next_at = 1`,
  )
}

/** Writers who change channels without subscriptions, each without a pause. */
async function measure({ caller, operatorToken }: LoneNode, { steady }: World, seconds: number) {
  let [rate, p99, failed] = [0, Number.POSITIVE_INFINITY, 0]
  for (let turn = 0; turn < TURNS; turn++) {
    const first = caller.asked.length
    const until = performance.now() + 1000 * seconds
    const write = async (writer: number) => {
      for (let n = 0; performance.now() < until; n++)
        await caller.ask('update', 'PATCH', `/control/channels/${steady[writer]}`, {
          token: operatorToken,
          body: { title: `Title ${turn} ${n}` },
        })
    }
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
    const asked = caller.asked.slice(first)
    rate = Math.max(rate, asked.length / Math.max(seconds, longestWait(asked)))
    p99 = Math.min(p99, percentile(asked, 0.99))
    failed += asked.filter(each => outcomeOf(each) !== 'ok').length
  }
  return { rate, p99, failed }
}

/** The share of one core that the server takes while nothing is asked of it, with its connections to PostgreSQL. */
async function busyShare(pid: number, execute: Execute | undefined): Promise<number> {
  const used = async () => {
    const found = await execute?.(
      `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
         and backend_type = 'client backend'`,
    )
    const backends = (found ?? []) as { pid: number }[]
    return [pid, ...backends.map(row => row.pid)].reduce((sum, each) => sum + processorSeconds(each), 0)
  }
  await Bun.sleep(IDLE_MILLISECONDS / 2)
  const [before, began] = [await used(), performance.now()]
  await Bun.sleep(IDLE_MILLISECONDS)
  return (1000 * ((await used()) - before)) / (performance.now() - began)
}

function processorSeconds(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // Behind the name, which may have spaces: the 14th and 15th field are user and system time.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}
