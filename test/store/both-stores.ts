import { afterAll, beforeAll, expect } from 'bun:test'
import fc from 'fast-check'
import type { PageRequest } from '../../src/contract/page.ts'
import { isRefusal } from '../../src/contract/problem.ts'
import type { Entitlement } from '../../src/contract/resources/entitlement.ts'
import { entitlementSortKey } from '../../src/store/queries/entitlements.ts'
import { markerSortKey } from '../../src/store/queries/videos.ts'
import type { Store } from '../../src/store/store.ts'
import { engines } from '../support/server.ts'
import { anyStreamKey, openTestStore } from '../support/store/stores.ts'
import { iso, Model } from './model.ts'

/**
 * One random stream of commands and queries gives the same answers on SQLite, on PostgreSQL and in a small model. Ids and
 * times are part of the stream, so answers can be compared to the last character.
 */
const START = Date.parse('2026-03-01T12:00:00.000Z')

type Action =
  | { kind: 'start'; user: number; viewers: number | undefined }
  | { kind: 'end'; user: number }
  | { kind: 'keep'; user: number; on: boolean }
  | { kind: 'editor'; user: number; by: number; on: boolean }
  | { kind: 'viewers'; counts: [number, number][] }
  | { kind: 'mark'; user: number; by: number; text: string; key: string | undefined }
  | { kind: 'grant'; grants: { id: number; user: number; benefit: number; game: number; minute: number }[] }
  | {
      kind: 'update'
      ids: (number | string)[]
      fulfilled: boolean
      organization: number
      user: number | undefined
    }
  | {
      kind: 'list'
      organization: number
      user: number | undefined
      game: number | undefined
      fulfilled: boolean | undefined
      first: number
    }
  | { kind: 'markers'; user: number; first: number }
  | { kind: 'live' }

const user = fc.nat(2)
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const text = fc.constantFrom('', 'a', 'A', 'ä', '😀', 'line\nbreak', "quote's", '"x"', '\\')

const mark = fc.record({
  kind: fc.constant('mark' as const),
  user,
  by: user,
  text,
  key: maybe(fc.constantFrom('k', 'K')),
})

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: mark },
  fc.record({ kind: fc.constant('start' as const), user, viewers: maybe(fc.nat(50)) }),
  fc.record({ kind: fc.constant('end' as const), user }),
  fc.record({ kind: fc.constant('keep' as const), user, on: fc.boolean() }),
  fc.record({ kind: fc.constant('editor' as const), user, by: user, on: fc.boolean() }),
  fc.record({
    kind: fc.constant('viewers' as const),
    counts: fc.uniqueArray(fc.tuple(user, fc.nat(50)), { selector: ([who]) => who }),
  }),
  fc.record({
    kind: fc.constant('grant' as const),
    grants: fc.array(
      fc.record({ id: fc.nat(11), user, benefit: fc.nat(1), game: fc.nat(1), minute: fc.nat(3) }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  fc.record({
    kind: fc.constant('update' as const),
    ids: fc.array(fc.oneof({ weight: 6, arbitrary: fc.nat(13) }, fc.constantFrom('', 'no', "'; --")), {
      minLength: 1,
      maxLength: 8,
    }),
    fulfilled: fc.boolean(),
    organization: fc.nat(1),
    user: maybe(user),
  }),
  fc.record({
    kind: fc.constant('list' as const),
    organization: fc.nat(1),
    user: maybe(user),
    game: maybe(fc.nat(1)),
    fulfilled: maybe(fc.boolean()),
    first: fc.integer({ min: 1, max: 5 }),
  }),
  fc.record({ kind: fc.constant('markers' as const), user, first: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('live' as const) }),
)

const timed = fc.array(fc.tuple(action, fc.integer({ min: -3000, max: 9000 })), {
  minLength: 5,
  maxLength: 60,
})

/** The names of one run: every run has separate people and things, so that runs can share a database. */
function cast(run: number) {
  const base = run * 1000
  const uuid = (n: number) =>
    `${String(run).padStart(8, '0')}-0000-4000-8000-${n.toString(16).padStart(12, '0')}`
  return {
    users: [0, 1, 2].map(n => String(base + n)),
    games: [0, 1].map(n => String(base + n)),
    organizations: [uuid(0xa0), uuid(0xa1)] as const,
    benefits: [uuid(0xb0), uuid(0xb1)] as const,
    entitlement: (n: number) => uuid(0xee0 + n),
  }
}
type Cast = ReturnType<typeof cast>

async function prepare(store: Store, { users, games, organizations, benefits }: Cast): Promise<void> {
  const { commands } = store
  for (const id of users)
    await commands.putUser({ id, login: `login${id}`, stream_key: anyStreamKey(id), now: START })
  for (const [n, id] of organizations.entries()) {
    await commands.putOrganization({ id, name: 'An organization' })
    await commands.putGame({ id: games[n] ?? '', name: 'A game', organization_id: id })
    await commands.putBenefit({ id: benefits[n] ?? '', name: 'A benefit', organization_id: id })
  }
}

async function walk<Row>(
  page: (window: PageRequest) => Promise<{ rows: readonly Row[]; more: boolean }>,
  key: (row: Row) => readonly (string | number)[],
  first: number,
): Promise<Row[]> {
  const rows: Row[] = []
  let window: PageRequest = { first, direction: 'forward' }
  for (;;) {
    const { rows: next, more } = await page(window)
    expect(next.length).toBeLessThanOrEqual(first)
    rows.push(...next)
    const last = next.at(-1)
    if (!more || last === undefined) return rows
    window = { first, direction: 'forward', from: key(last) }
  }
}

/** Does one action on a real store. */
async function onStore(store: Store, names: Cast, act: Action, now: number, step: number): Promise<unknown> {
  const { commands } = store
  const who = (n: number | undefined) => (n === undefined ? undefined : (names.users[n] ?? ''))
  const at = (n: number) => names.users[n] ?? ''
  const fresh = String(Number(at(0)) * 1000 + step)
  switch (act.kind) {
    case 'start':
      await commands.startStream({
        user_id: at(act.user),
        stream_id: `1${fresh}`,
        video_id: `2${fresh}`,
        started_at: `${iso(now).slice(0, 19)}Z`,
        viewer_count: act.viewers,
      })
      return undefined
    case 'end':
      return commands.endStream({ user_id: at(act.user), now })
    case 'keep':
      await commands.changeChannel({ user_id: at(act.user), vod_enabled: act.on, video_id: `2${fresh}` })
      return undefined
    case 'editor': {
      const pair = { user_id: at(act.user), editor_id: at(act.by) }
      await (act.on ? commands.putEditor({ ...pair, now }) : commands.deleteEditor(pair))
      return undefined
    }
    case 'viewers':
      await commands.reportViewers({ counts: act.counts.map(([n, count]) => [at(n), count] as const) })
      return undefined
    case 'mark':
      return commands.createMarker({
        marker_id: Bun.hash(fresh).toString(16).padStart(32, '0'),
        broadcaster_id: at(act.user),
        description: act.text,
        caller: { client_id: 'client', user_id: at(act.by) },
        idempotency:
          act.key === undefined ? undefined : { key: act.key, fingerprint: `${at(act.user)} ${act.text}` },
        now,
      })
    case 'grant':
      return commands.grantEntitlements({
        grants: grantsOf(names, act).map(grant => ({ ...grant, timestampGiven: true })),
      })
    case 'update':
      return commands.updateEntitlements({
        ids: idsOf(names, act),
        fulfillment_status: act.fulfilled ? 'FULFILLED' : 'CLAIMED',
        reach: {
          organization_id: names.organizations[act.organization] ?? '',
          ...(act.user !== undefined && { user_id: at(act.user) }),
        },
        failing: [],
        now,
      })
    case 'list':
      return walk<Entitlement>(
        window => store.entitlements.page(filterOf(names, act), window),
        entitlementSortKey,
        act.first,
      )
    case 'markers': {
      const video = await store.videos.latestOf(at(act.user))
      if (video === undefined) return undefined
      return [
        video.id,
        await walk(window => store.markers.ofVideo(video.id, window), markerSortKey, act.first),
      ]
    }
    case 'live': {
      const streams = await Promise.all(
        names.users.map(each => store.streams.of(who(names.users.indexOf(each)) ?? '')),
      )
      return streams.map(stream => stream && [stream.id, stream.viewer_count, stream.started_at])
    }
  }
}

/** Does the same in the model. */
function inModel(model: Model, names: Cast, act: Action, now: number, step: number): unknown {
  const at = (n: number) => names.users[n] ?? ''
  const fresh = String(Number(at(0)) * 1000 + step)
  switch (act.kind) {
    case 'start':
      return model.start(at(act.user), `1${fresh}`, `2${fresh}`, Math.floor(now / 1000) * 1000, act.viewers)
    case 'end':
      return model.end(at(act.user), now)
    case 'keep':
      return model.keepVideos(at(act.user), act.on, `2${fresh}`)
    case 'editor': {
      const name = `${at(act.user)} ${at(act.by)}`
      if (act.on) model.editors.add(name)
      else model.editors.delete(name)
      return undefined
    }
    case 'viewers':
      return model.viewers(act.counts.map(([n, count]) => [at(n), count] as const))
    case 'mark':
      return model.mark(
        at(act.by),
        at(act.user),
        Bun.hash(fresh).toString(16).padStart(32, '0'),
        act.text,
        act.key,
        now,
      )
    case 'grant':
      return model.grant(grantsOf(names, act))
    case 'update':
      return model.update(
        idsOf(names, act),
        act.fulfilled ? 'FULFILLED' : 'CLAIMED',
        names.organizations[act.organization] ?? '',
        act.user === undefined ? undefined : at(act.user),
        now,
      )
    case 'list':
      return model.list(filterOf(names, act))
    case 'markers': {
      const video = model.latestVideo(at(act.user))
      return video && [video.id, model.markers(video.id)]
    }
    case 'live':
      return names.users.map(each => {
        const running = model.live.get(each)
        return running && [running.id, running.viewers, `${iso(running.started).slice(0, 19)}Z`]
      })
  }
}

function grantsOf(names: Cast, act: Extract<Action, { kind: 'grant' }>) {
  return act.grants.map(grant => ({
    id: names.entitlement(grant.id),
    user_id: names.users[grant.user] ?? '',
    benefit_id: names.benefits[grant.benefit] ?? '',
    game_id: names.games[grant.game] ?? '',
    timestamp: iso(START + grant.minute * 60_000),
  }))
}

/** Entitlements 12 and 13 are never granted; odd ones are sent in upper case. */
function idsOf(names: Cast, act: Extract<Action, { kind: 'update' }>): string[] {
  return act.ids.map(id => {
    if (typeof id === 'string') return id
    return id % 2 === 1 ? names.entitlement(id).toUpperCase() : names.entitlement(id)
  })
}

function filterOf(names: Cast, act: Extract<Action, { kind: 'list' }>) {
  return {
    organization_id: names.organizations[act.organization] ?? '',
    user_id: act.user === undefined ? undefined : names.users[act.user],
    game_id: act.game === undefined ? undefined : names.games[act.game],
    fulfillment_status:
      act.fulfilled === undefined ? undefined : act.fulfilled ? ('FULFILLED' as const) : ('CLAIMED' as const),
  }
}

const opened: Awaited<ReturnType<typeof openTestStore>>[] = []
beforeAll(async () => {
  for (const engine of engines) opened.push(await openTestStore(engine))
})
afterAll(async () => {
  for (const each of opened) await each.close()
})

type Tally = ReadonlyMap<string, number>

/** Compares so many random streams of commands and queries, and counts their outcomes; a failure names the seed. */
export async function expectAgreement(numRuns: number): Promise<Tally> {
  let run = 0
  const tally = new Map<string, number>()
  await fc.assert(
    fc.asyncProperty(timed, async actions => {
      run += 1
      const names = cast(run)
      const model = new Model(
        new Map(names.benefits.map((id, n) => [id, names.organizations[n] ?? ''])),
        new Map(names.games.map((id, n) => [id, names.organizations[n] ?? ''])),
      )
      for (const { store } of opened) await prepare(store, names)
      let now = START
      for (const [step, [act, elapsed]] of actions.entries()) {
        now += elapsed
        const expected = inModel(model, names, act, now, step)
        const name = isRefusal(expected) ? `${act.kind} ${expected.problem}` : act.kind
        tally.set(name, (tally.get(name) ?? 0) + 1)
        for (const { store } of opened) {
          const answer = await onStore(store, names, act, now, step)
          expect({ store: store.engine, step, act, answer }).toEqual({
            store: store.engine,
            step,
            act,
            answer: expected,
          })
        }
      }
    }),
    { numRuns },
  )
  return tally
}

/** Every outcome of a marker and of a grant came up. Few runs may miss one by chance; many do not. */
export function expectEveryOutcome(tally: Tally): void {
  for (const name of [
    'mark',
    'mark not_live',
    'mark vods_off',
    'mark marker_forbidden',
    'mark idempotency_key_reused',
    'grant',
    'grant entitlement_conflict',
    'grant refused_reference',
    'markers',
    'list',
    'update',
  ]) {
    expect([name, tally.get(name) ?? 0]).not.toEqual([name, 0])
  }
}
