/** The people and things that the load is about, made through the control API. */
import type { Group } from './judge/judge.ts'
import type { Caller } from './load/caller.ts'

const MARKING = 12
const CHURNING = 24
const TOKEN_SECONDS = 24 * 3600
const GROUP_SIZE = 100

export interface TokenHolder {
  readonly id: string
  readonly token: string
}

/** A group with the ids that are in it. */
export interface EntitlementGroup extends Group {
  readonly ids: readonly string[]
}

export interface World {
  readonly operatorToken: string
  readonly appToken: string
  /** Live from the beginning to the end. */
  readonly steady: readonly string[]
  /** Channels that go live and stop all the time. */
  readonly churning: readonly string[]
  /** Live broadcasters who set markers. */
  readonly marking: readonly TokenHolder[]
  /** A caller that asks too often, and one that does not. */
  readonly greedy: TokenHolder
  readonly modest: TokenHolder
  /** Users who never go live. */
  readonly silent: readonly string[]
  readonly clientId: string
  readonly benefitId: string
  readonly gameId: string
}

/** Most of it through one of the nodes, as lines: it may be large. */
export async function makeWorld(
  caller: Caller,
  node: string,
  operatorToken: string,
  streams: number,
): Promise<World> {
  const make = async (path: string, body: unknown) =>
    (await caller.must('setting up', 'POST', `/control/${path}`, { token: operatorToken, body })).body.data[0]

  const organization = await make('organizations', { name: 'Reef Interactive' })
  const game = await make('games', { name: 'Tidefall', organization_id: organization.id })
  const benefit = await make('benefits', {
    name: 'Coral lantern',
    organization_id: organization.id,
    game_id: game.id,
  })
  const client = await make('clients', { name: 'Rig', organization_id: organization.id })
  const app = await make('tokens', { client_id: client.id, expires_in: TOKEN_SECONDS })

  const marking = named(3, MARKING)
  const steady = [...named(1, streams), ...marking]
  const churning = named(2, CHURNING)
  const silent = named(4, 10)
  const everyone = [...steady, ...churning, ...silent]
  const started_at = `${new Date().toISOString().slice(0, 19)}Z`
  await importLines(node, operatorToken, [
    ...everyone.map(id => ({ type: 'user', id, login: `person_${id}` })),
    ...steady.map(id => {
      return { type: 'stream', id: `9${id}`, user_id: id, started_at, viewer_count: Number(id) % 97 }
    }),
  ])
  const withToken = async (id: string): Promise<TokenHolder> => {
    const token = await make('tokens', {
      client_id: client.id,
      user_id: id,
      scopes: ['channel:manage:broadcast', 'user:read:broadcast', 'channel:read:stream_key'],
      expires_in: TOKEN_SECONDS,
    })
    return { id, token: token.access_token }
  }
  return {
    operatorToken,
    appToken: app.access_token,
    steady,
    churning,
    marking: await Promise.all(marking.map(withToken)),
    greedy: await withToken(silent[0] ?? ''),
    modest: await withToken(silent[1] ?? ''),
    silent,
    clientId: client.id,
    benefitId: benefit.id,
    gameId: game.id,
  }
}

/** Entitlements that no other load writes: each fault has separate ones, so that no late write of one reaches the next. */
export async function grantGroups(caller: Caller, world: World, count: number): Promise<EntitlementGroup[]> {
  const now = Date.now()
  const groups: EntitlementGroup[] = []
  for (let index = 1; index <= count; index++) {
    // Each group has a time, so that its rows are together in a store that keeps them in this order.
    const timestamp = new Date(now - count + index).toISOString()
    const ids = Array.from({ length: GROUP_SIZE }, () => crypto.randomUUID())
    const grants = ids.map(id => ({
      id,
      timestamp,
      user_id: world.steady[0],
      benefit_id: world.benefitId,
      game_id: world.gameId,
    }))
    const path = '/control/entitlements'
    await caller.must('setting up', 'POST', path, { token: world.operatorToken, body: { grants } })
    const initial = { status: 'CLAIMED', version: timestamp }
    groups.push({ key: `group ${index}`, size: GROUP_SIZE, initial, ids })
  }
  return groups
}

function named(kind: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(kind * 1_000_000 + index))
}

async function importLines(node: string, token: string, lines: readonly object[]): Promise<void> {
  const answer = await fetch(`${node}/control/import`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}` },
    body: lines.map(line => `${JSON.stringify(line)}\n`).join(''),
  })
  const text = await answer.text()
  if (!text.includes('{"summary"')) throw new Error(`the import was answered ${answer.status}: ${text}`)
}
