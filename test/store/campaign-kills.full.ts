/**
 * Claims and watched minutes survive `kill -9`, and crashes of PostgreSQL. Viewers send heartbeats that count and claim drops,
 * each until it is answered, while the server or the database is killed at random moments. Then every claim that was answered
 * is in the store, whole and once, and no viewer has more minutes than there were minutes with a heartbeat.
 *
 * A longer run: TEST_CAMPAIGN_KILLS=100 TEST_POSTGRES_CRASHES=10
 */
import { afterAll, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { PlaybackSessions } from '../../src/auth/playback-sessions.ts'
import { slotAt } from '../../src/domain/watched-minutes.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { isoMillis } from '../../src/kit/time/clock.ts'
import { Node } from '../support/cli/nodes.ts'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import { createStorePlace, engines, executeIn, type StorePlace } from '../support/server.ts'
import { freePort, startPostgres } from '../support/store/postgres.ts'

const KILLS = Number(process.env.TEST_CAMPAIGN_KILLS || 4)
const CRASHES = Number(process.env.TEST_POSTGRES_CRASHES || 2)
const WORKERS = 6
const DROPS = 10
const BENEFITS = 3
/** A fault follows so many answered claims at most. */
const MAX_CLAIMS = 60
const RETRY_MILLISECONDS = 20
const HOUR = 3_600_000

afterAll(endAllProcesses)

interface Claim {
  readonly drop_id: string
  readonly user_id: string
  readonly entitlement_ids: readonly string[]
}

interface Campaign {
  readonly id: string
  readonly drops: readonly { readonly id: string }[]
}

/** A server with two campaigns of a game that a channel plays: one to claim, one that claims for its viewers. */
class Stage {
  readonly node: Node
  readonly claims: Claim[] = []
  /** Minutes in which heartbeats of a viewer were sent. */
  readonly slots = new Map<string, Set<number>>()
  campaigns: readonly Campaign[] = []
  readonly #sessions: PlaybackSessions
  #channel = ''
  #client = ''
  #viewers = 1000

  private constructor(node: Node, sessions: PlaybackSessions) {
    this.node = node
    this.#sessions = sessions
  }

  static async open({ folder, databaseUrl }: StorePlace): Promise<Stage> {
    const key = randomBytes(32)
    const node = new Node(await freePort(), await freePort(), {
      STRAND_DATA: folder,
      STRAND_OPERATOR_TOKEN: 'an-operator-token-for-this-test',
      STRAND_MASTER_KEYS: `test:${key.toString('base64')}`,
      STRAND_EARNING_PER_NETWORK: '100000',
      STRAND_RATE_USER: '0',
      STRAND_RATE_ANONYMOUS: '0',
      ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    })
    await node.start()
    const stage = new Stage(node, new PlaybackSessions(new KeyRing([{ id: 'test', bytes: key }])))
    await stage.#prepare()
    return stage
  }

  async #prepare(): Promise<void> {
    const make = (path: string, body: object) => this.node.control('POST', path, body)
    const { id: organization_id } = await make('/organizations', { name: 'Reef' })
    const { id: game_id } = await make('/games', { name: 'Kite Racers', organization_id })
    const benefit_ids: string[] = []
    for (let count = 0; count < BENEFITS; count++)
      benefit_ids.push((await make('/benefits', { name: `Kite ${count}`, organization_id })).id)
    this.#client = (await make('/clients', { name: 'Player' })).id
    this.#channel = (await make('/users', { login: 'star' })).id
    await this.node.control('PATCH', `/channels/${this.#channel}`, { game_id })
    await this.node.control('PUT', `/channels/${this.#channel}/stream`, {})
    for (const [auto_claim, count] of [
      [false, DROPS],
      [true, 1],
    ] as const) {
      const drops = Array.from({ length: count }, () => ({
        id: crypto.randomUUID(),
        name: 'A kite',
        required_minutes: 1,
        benefit_ids,
      }))
      const times = { starts_at: isoMillis(Date.now() - HOUR), ends_at: isoMillis(Date.now() + 24 * HOUR) }
      const path = `/campaigns/${crypto.randomUUID()}`
      const body = { name: 'Reef week', organization_id, game_id, ...times, auto_claim, drops }
      await this.node.control('PUT', path, body)
      this.campaigns = [...this.campaigns, await this.node.control('POST', `${path}/publish`)]
    }
  }

  async #ask(path: string, body: object, token?: string): Promise<Response> {
    const headers = { Connection: 'close', ...(token && { Authorization: `Bearer ${token}` }) }
    return fetch(`${this.node.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  }

  /** A new viewer, who watches until a minute is counted and then claims all drops. */
  async watchAndClaim(): Promise<void> {
    this.#viewers += 1
    const user_id = String(this.#viewers)
    const access_token = await untilDone(async () => {
      await this.node.control('PUT', `/users/${user_id}`, { login: `viewer_${user_id}` })
      const scopes = ['user:manage:drops']
      const token = await this.node.control('POST', '/tokens', { client_id: this.#client, user_id, scopes })
      return token.access_token as string
    })
    const began = Date.now() - 2 * 60_000
    const { session } = this.#sessions.mint(
      { user_id: this.#channel, watches: 'live', viewer: user_id },
      began,
    )
    const slots = new Set<number>()
    this.slots.set(user_id, slots)
    for (const { id: drop_id } of this.campaigns[0]?.drops ?? [])
      await untilDone(async () => {
        slots.add(slotAt(Date.now()))
        const heard = await this.#ask('/playback/heartbeat', { session })
        slots.add(slotAt(Date.now()))
        if (heard.status !== 200) throw new Error(`a heartbeat was answered with ${await heard.text()}`)
        const answer = await this.#ask('/drops/claims', { drop_id }, access_token)
        // The minute of a killed process is lost: the next heartbeat counts.
        if (answer.status !== 200) throw new Error(`a claim was answered with ${await answer.text()}`)
        this.claims.push(((await answer.json()) as { data: Claim[] }).data[0] as Claim)
      })
  }
}

/** Asks again while the server or the store is away. */
async function untilDone<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch {
      await Bun.sleep(RETRY_MILLISECONDS)
    }
  }
}

/** Viewers watch and claim until there were so many faults. */
async function withFaults(stage: Stage, count: number, fault: () => Promise<void>): Promise<void> {
  let isOver = false
  const work = async () => {
    while (!isOver) await stage.watchAndClaim()
  }
  const strike = async () => {
    for (let n = 0; n < count; n++) {
      const enough = stage.claims.length + 1 + Math.floor(Math.random() * MAX_CLAIMS)
      while (stage.claims.length < enough) await Bun.sleep(1)
      await fault()
    }
    isOver = true
  }
  await Promise.all([strike(), ...Array.from({ length: WORKERS }, work)])
}

const WHOLE = { answered: [], half: [], withoutEntitlement: 0, surplus: 0, tooManyMinutes: [] }

/** Compares the store with what was answered and sent. */
async function expectWhole(place: StorePlace, stage: Stage): Promise<void> {
  const { node, campaigns, claims, slots } = stage
  const reports = []
  for (const { id } of campaigns) reports.push(await node.control('GET', `/campaigns/${id}/report`))
  expect(await node.stop()).toBe(0)
  const rows: { user_id: string; drop_id: string; id: string }[] = await executeIn(
    place,
    `select k.user_id, k.drop_id, ${place.databaseUrl === undefined ? 'lower(hex(k.entitlement_id))' : "replace(cast(k.entitlement_id as text), '-', '')"} as id from drop_claims k`,
  )
  const stored = Map.groupBy(rows, ({ user_id, drop_id }) => `${user_id} ${drop_id}`)
  const progress: { id: string; user_id: string; minutes: number }[] = await executeIn(
    place,
    'select c.id, p.user_id, p.minutes from drop_progress p join campaigns c on c.number = p.campaign',
  )
  const count = async (statement: string) => Number((await executeIn(place, statement))[0]?.n)
  const isStored = ({ user_id, drop_id, entitlement_ids }: Claim) => {
    const ids = (stored.get(`${user_id} ${drop_id}`) ?? []).map(each => each.id).sort()
    return Bun.deepEquals(ids, entitlement_ids.map(id => id.replaceAll('-', '')).sort())
  }
  expect({
    answered: claims.filter(claim => !isStored(claim)),
    half: [...stored].filter(([, each]) => each.length !== BENEFITS).map(([name]) => name),
    withoutEntitlement: await count(
      'select count(*) as n from drop_claims where entitlement_id not in (select id from organization_entitlements)',
    ),
    surplus: (await count('select count(*) as n from organization_entitlements')) - rows.length,
    tooManyMinutes: progress.filter(({ user_id, minutes }) => minutes > (slots.get(user_id)?.size ?? 0)),
  }).toEqual(WHOLE)
  // An audit entry for each claim.
  expect(await count("select count(*) as n from audit where operation = 'ClaimDrop'")).toBe(stored.size)
  for (const [n, { id, drops }] of campaigns.entries()) {
    const own = progress.filter(each => each.id === id)
    const claimed = drops.map(drop => rows.filter(each => each.drop_id === drop.id).length / BENEFITS)
    expect(reports[n]).toMatchObject({
      viewers: own.length,
      minutes: own.reduce((sum, { minutes }) => sum + minutes, 0),
      drops: claimed.map(each => ({ claimed: each })),
    })
  }
}

for (const engine of engines)
  test(
    `every claim that was answered is there, whole and once, after ${KILLS} kills of a server on ${engine}`,
    async () => {
      const place = await createStorePlace(engine)
      const stage = await Stage.open(place)
      await withFaults(stage, KILLS, async () => {
        await stage.node.stop('SIGKILL')
        await stage.node.start()
      })
      await expectWhole(place, stage)
      await place.remove()
    },
    60_000 + KILLS * 10_000,
  )

test.skipIf(!engines.includes('postgres'))(
  `every claim that was answered is there, whole and once, after ${CRASHES} crashes of PostgreSQL`,
  async () => {
    const postgres = await startPostgres()
    const place = await createStorePlace('postgres', { postgresUrl: postgres.url })
    const stage = await Stage.open(place)
    await withFaults(stage, CRASHES, () => postgres.crash())
    await expectWhole(place, stage)
    await place.remove()
    await postgres.stop()
  },
  60_000 + CRASHES * 20_000,
)
