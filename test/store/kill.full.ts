/**
 * The power of a promise: what was acknowledged is there after `kill -9`, and a batch is there whole or not at all.
 *
 * One writer for each group of 100 entitlements sets the whole group to FULFILLED and CLAIMED by turns, and notes every
 * answer after reading it. The server is killed at a random moment and started again. A group must then hold the last
 * batch that was answered, or the one that was under way: which of the two is known by status and `last_updated` together,
 * for a batch's time lies between the sending of the request and the reading of its answer.
 */
import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { STRAND } from '../support/cli/strand-process.ts'
import { freePort } from '../support/store/postgres.ts'

/** A longer run: TEST_KILLS=50 */
const KILLS = Number(process.env.TEST_KILLS || 20)
const GROUPS = 8
const GROUP_SIZE = 100
/** A server is killed after so many acknowledged batches at most, and so many milliseconds at most. */
const MAX_BATCHES = 60
const MAX_MILLISECONDS = 20
const RESTART_MILLISECONDS = 2000
const OPERATOR_TOKEN = 'an-operator-token-for-this-test'

type Status = 'CLAIMED' | 'FULFILLED'

/** The last thing known of a group: the status, and between which moments it was written. */
interface Known {
  readonly status: Status
  readonly from: number
  readonly to: number
}

/** A batch that was sent and not answered: it happened, or it did not. */
interface UnderWay {
  readonly status: Status
  readonly sentAt: number
}

class Group {
  readonly ids: readonly string[]
  known: Known
  underWay: UnderWay | undefined

  constructor(ids: readonly string[], known: Known) {
    this.ids = ids
    this.known = known
  }
}

interface Row {
  readonly fulfillment_status: Status
  readonly last_updated: string
}

/** The server as a separate process on one data folder, started and killed as often as one likes. */
class Server {
  readonly url: string
  readonly #folder: string
  #process: Bun.Subprocess | undefined

  constructor(port: number, folder: string) {
    this.url = `http://127.0.0.1:${port}`
    this.#folder = folder
  }

  /** Gives the milliseconds until it serves. */
  async start(): Promise<number> {
    const began = performance.now()
    const surroundings = Object.entries(process.env).filter(
      ([name]) => !name.startsWith('STRAND_') && name !== 'DATABASE_URL',
    )
    const child = Bun.spawn(
      [...STRAND, 'serve', '--listen', new URL(this.url).host, '--data', this.#folder],
      {
        env: {
          ...Object.fromEntries(surroundings),
          STRAND_OPERATOR_TOKEN: OPERATOR_TOKEN,
          STRAND_RATE_APP: '0',
          STRAND_LOG: 'error',
        },
        stdout: 'ignore',
        stderr: 'inherit',
      },
    )
    this.#process = child
    while (!(await this.#isReady())) {
      if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}`)
      await Bun.sleep(5)
    }
    return performance.now() - began
  }

  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number> {
    this.#process?.kill(signal)
    return (await this.#process?.exited) ?? 0
  }

  async #isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.url}/readyz`, { keepalive: false })).ok
    } catch {
      return false
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: the data of an answer is whatever the server sent
  async call(method: string, path: string, token: string, body?: unknown): Promise<any> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { Authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return JSON.parse(text).data
  }
}

async function prepare(server: Server): Promise<{ token: string; groups: Group[] }> {
  const make = async (path: string, body: unknown) =>
    (await server.call('POST', `/control${path}`, OPERATOR_TOKEN, body))[0]
  const organization = await make('/organizations', { name: 'Reef' })
  const game = await make('/games', { name: 'Tidefall', organization_id: organization.id })
  const benefit = await make('/benefits', { name: 'Lantern', organization_id: organization.id })
  const client = await make('/clients', { name: 'back end', organization_id: organization.id })
  const user = await make('/users', { login: 'otter' })
  const { access_token } = await make('/tokens', { client_id: client.id })
  const grant = { user_id: user.id, game_id: game.id, benefit_id: benefit.id }
  const groups: Group[] = []
  for (let n = 0; n < GROUPS; n++) {
    const grants = Array.from({ length: GROUP_SIZE }, () => grant)
    const rows = (await server.call('POST', '/control/entitlements', OPERATOR_TOKEN, { grants })) as (Row & {
      id: string
    })[]
    const at = Date.parse(rows[0]?.last_updated ?? '')
    groups.push(
      new Group(
        rows.map(row => row.id),
        { status: 'CLAIMED', from: at, to: at },
      ),
    )
  }
  return { token: access_token, groups }
}

/** Writes one group by turns until the server is gone, and calls back after each acknowledged batch. */
async function write(server: Server, token: string, group: Group, onAcknowledged: () => void): Promise<void> {
  for (;;) {
    const status = group.known.status === 'CLAIMED' ? 'FULFILLED' : 'CLAIMED'
    const sentAt = Date.now()
    group.underWay = { status, sentAt }
    let data: { status: string; ids: string[] }[]
    try {
      data = await server.call('PATCH', '/helix/entitlements/drops', token, {
        entitlement_ids: group.ids,
        fulfillment_status: status,
      })
    } catch {
      return
    }
    expect(data.map(each => [each.status, each.ids.length])).toEqual([['SUCCESS', GROUP_SIZE]])
    // Two batches within a millisecond: the later one is written as if a little later.
    group.known = { status, from: sentAt, to: Date.now() + 2 }
    group.underWay = undefined
    onAcknowledged()
  }
}

type Verdict = 'known' | 'under way' | 'half applied' | 'lost'

/** What the rows of a group mean for its journal. */
function judge(rows: readonly Row[], { known, underWay }: Pick<Group, 'known' | 'underWay'>): Verdict {
  const [row] = rows
  if (row === undefined || rows.some(each => !Bun.deepEquals(each, row))) return 'half applied'
  const at = Date.parse(row.last_updated)
  if (row.fulfillment_status === known.status && at >= known.from && at <= known.to) return 'known'
  const isUnderWay = row.fulfillment_status === underWay?.status && at >= underWay.sentAt
  return isUnderWay ? 'under way' : 'lost'
}

/** Holds the store against the journal of one group, and notes what is found as known from now on. */
async function verify(server: Server, token: string, group: Group): Promise<Verdict> {
  const ids = group.ids.map(id => `id=${id}`).join('&')
  const listed: Row[] = await server.call('GET', `/helix/entitlements/drops?${ids}`, token)
  const rows = listed.map(({ fulfillment_status, last_updated }) => ({ fulfillment_status, last_updated }))
  const verdict = rows.length === GROUP_SIZE ? judge(rows, group) : 'half applied'
  const [found] = rows
  if (found === undefined || verdict === 'half applied' || verdict === 'lost') {
    throw new Error(`${verdict}: ${JSON.stringify({ found, known: group.known, underWay: group.underWay })}`)
  }
  const at = Date.parse(found.last_updated)
  group.known = { status: found.fulfillment_status, from: at, to: at }
  group.underWay = undefined
  return verdict
}

test('the judge knows a lost batch and half a batch when it sees one', () => {
  const row = (fulfillment_status: Status, at: number): Row => ({
    fulfillment_status,
    last_updated: new Date(at).toISOString(),
  })
  // CLAIMED was written at 90; FULFILLED was sent at 100 and answered at 105; CLAIMED was sent at 106 and not answered.
  const known: Known = { status: 'FULFILLED', from: 100, to: 105 }
  const underWay: UnderWay = { status: 'CLAIMED', sentAt: 106 }
  expect(judge([row('FULFILLED', 103), row('FULFILLED', 103)], { known, underWay })).toBe('known')
  expect(judge([row('CLAIMED', 107), row('CLAIMED', 107)], { known, underWay })).toBe('under way')
  expect(judge([row('CLAIMED', 90), row('CLAIMED', 90)], { known, underWay })).toBe('lost')
  expect(judge([row('FULFILLED', 80), row('FULFILLED', 80)], { known, underWay })).toBe('lost')
  expect(judge([row('CLAIMED', 107), row('CLAIMED', 107)], { known, underWay: undefined })).toBe('lost')
  expect(judge([row('CLAIMED', 107), row('FULFILLED', 103)], { known, underWay })).toBe('half applied')
  expect(judge([row('CLAIMED', 107), row('CLAIMED', 108)], { known, underWay })).toBe('half applied')
  expect(judge([], { known, underWay })).toBe('half applied')
})

test(`after ${KILLS} kills during batches nothing acknowledged is lost and no batch is half there`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'strand-kill-'))
  const server = new Server(await freePort(), folder)
  const restarts: number[] = []
  let acknowledged = 0
  let unanswered = 0
  try {
    await server.start()
    const { token, groups } = await prepare(server)
    for (let kill = 0; kill < KILLS; kill++) {
      // The random moment is the test: from before the first commit to well within the stream of them. It is counted in
      // batches, so that a slow machine is not killed before it has done anything.
      const enough = acknowledged + Math.floor(Math.random() * MAX_BATCHES)
      const { promise: reached, resolve } = Promise.withResolvers<void>()
      const look = () => {
        if (acknowledged >= enough) resolve()
      }
      look()
      const writers = groups.map(group =>
        write(server, token, group, () => {
          acknowledged++
          look()
        }),
      )
      await Promise.race([reached, Promise.all(writers)])
      await Bun.sleep(Math.random() * MAX_MILLISECONDS)
      await server.end('SIGKILL')
      await Promise.all(writers)
      restarts.push(await server.start())
      for (const group of groups) {
        if ((await verify(server, token, group)) === 'under way') unanswered++
      }
    }
    expect(await server.end('SIGTERM')).toBe(0)

    const store = new Database(join(folder, 'strand.db'), { readonly: true })
    expect(store.query('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }])
    expect(store.query('pragma foreign_key_check').all()).toEqual([])
    store.close()
    // The median: what else the machine does may hold up one of them.
    expect(restarts.sort((a, b) => a - b)[KILLS / 2]).toBeLessThan(RESTART_MILLISECONDS)
    // Or else the kills missed the work, and the test would be blind.
    expect(acknowledged).toBeGreaterThan(KILLS * GROUPS)
    expect(unanswered).toBeGreaterThan(0)
  } finally {
    await server.end('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}, 300_000)
