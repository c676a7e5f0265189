/**
 * Values that exist in the world under test: ids, names, tokens and secrets, from the demo's description and from earlier
 * responses. Random ids match nothing; with these, most requests reach the store.
 */
import type { World } from '../../src/demo/described-world.ts'
import type { SeededRandom } from '../../src/kit/random.ts'
import type { DescribedOperation } from './document.ts'

const MAX_RECENT = 40

/** A user to authenticate as. */
export interface Identity {
  readonly id: string
  readonly token: string
}

interface Client {
  readonly id: string
  readonly secret: string
}

export type Params = Readonly<Record<string, string>>

/** A received page, and how to request the next one. */
export interface OpenWalk {
  readonly query: string
  readonly authorization: string | undefined
  readonly cursor: string
}

/** Fields that hold the same kind of value. */
const KINDS: Readonly<Record<string, string>> = {
  broadcaster_id: 'user_id',
  channel_id: 'user_id',
  broadcaster_user_id: 'user_id',
  editor_id: 'user_id',
  owner_user_id: 'user_id',
  user_login: 'login',
  entitlement_ids: 'entitlement_id',
  counts: 'user_id',
  token: 'access_token',
  scopes: 'scope',
}

/** The kind of `id`, by the path it was returned from. */
const COLLECTIONS: readonly (readonly [end: RegExp, kind: string])[] = [
  [/\/users(\/\{user_id\})?$/, 'user_id'],
  [/\/organizations(\/\{organization_id\})?$/, 'organization_id'],
  [/\/games(\/\{game_id\})?$/, 'game_id'],
  [/\/benefits(\/\{benefit_id\})?$/, 'benefit_id'],
  [/\/control\/campaigns(\/\{campaign_id\})?$/, 'campaign_id'],
  [/\/clients(\/\{client_id\}.*)?$/, 'client_id'],
  [/\/videos(\/\{video_id\})?$/, 'video_id'],
  [/\/entitlements(\/drops|\/\{entitlement_id\})?$/, 'entitlement_id'],
  [/\/operators$/, 'operator'],
  [/\/(eventsub\/|event-)subscriptions/, 'subscription_id'],
  [/\/deliveries/, 'delivery_id'],
]

/** The kind of `name`, by the path it was returned from. */
const NAMED: readonly (readonly [path: RegExp, kind: string])[] = [
  [/^\/control\/operators/, 'operator_name'],
  [/^\/control\/media-servers/, 'media_server_name'],
  [/\/stream-keys/, 'stream_key_name'],
]

const HARVESTED = /(_id|^login|^access_token|^refresh_token|^device_code|^token|^session)$/

/** The kind of value that a field holds. */
export function kindOf(path: string, field: string): string {
  const collection = COLLECTIONS.find(([end]) => end.test(path))?.[1]
  if (field === 'id') return collection ?? 'id'
  const named = field === 'name' ? NAMED.find(([of]) => of.test(path))?.[1] : undefined
  return named ?? KINDS[field] ?? field
}

export class Known {
  readonly #world: World
  readonly #fixed: ReadonlyMap<string, readonly string[]>
  #recent = new Map<string, string[]>()
  #secrets = new Map<string, string>()
  #params = new Map<string, Params[]>()
  #walks = new Map<string, OpenWalk>()

  /** @param callback a URL that receives events */
  constructor(world: World, callback: string) {
    this.#world = world
    this.#fixed = new Map([
      ['user_id', world.users.map(each => each.id)],
      ['login', world.users.map(each => each.login)],
      ['organization_id', [world.organization.id, world.other_organization.id]],
      ['client_id', [world.client.id, world.other_client.id]],
      ['game_id', [world.game.id]],
      ['benefit_id', [world.benefit.id]],
      ['campaign_id', [world.campaign.id]],
      ['drop_id', world.campaign.drops.map(each => each.id)],
      ['scope', world.users[0]?.scopes ?? []],
      ['callback', [callback]],
      ['condition', ['broadcaster_user_id']],
    ])
    this.forget()
  }

  get operatorToken(): string {
    return this.#world.operator_token
  }

  get appTokens(): readonly string[] {
    return [this.#world.client.app_token, this.#world.other_client.app_token]
  }

  /** After a reset of the world. */
  forget(): void {
    this.#recent = new Map()
    this.#params = new Map()
    this.#walks = new Map()
    this.#secrets = new Map(
      [this.#world.client, this.#world.other_client].map(({ id, secret }) => [id, secret]),
    )
  }

  /** A value of a kind; `recent` protects the fixed world from deletion. */
  pick(kind: string, random: SeededRandom, prefer: 'recent' | 'any' = 'any'): string | undefined {
    const fixed = this.#fixed.get(kind) ?? []
    const recent = this.#recent.get(kind) ?? []
    const takesRecent = random.next() < (prefer === 'recent' ? 0.95 : 0.5)
    const from = (takesRecent && recent.length > 0) || fixed.length === 0 ? recent : fixed
    return from.length === 0 ? undefined : random.pick(from)
  }

  identity(random: SeededRandom): Identity {
    return random.next() < 0.5 ? this.#world.broadcaster : random.pick(this.#world.users)
  }

  client(random: SeededRandom): Client {
    const [id, secret] = random.pick([...this.#secrets])
    return { id, secret }
  }

  /** Path parameters of an earlier successful request to the same path. */
  params(path: string, random: SeededRandom): Params | undefined {
    const sets = this.#params.get(path) ?? []
    return sets.length === 0 ? undefined : random.pick(sets)
  }

  walk(operationId: string): OpenWalk | undefined {
    return this.#walks.get(operationId)
  }

  /** Learns from a successful request and its response. */
  learn(
    operation: DescribedOperation,
    sent: { readonly params: Params; readonly query: string; readonly authorization: string | undefined },
    answer: unknown,
  ): void {
    if (Object.keys(sent.params).length > 0) {
      if (operation.method === 'DELETE') {
        const gone = JSON.stringify(sent.params)
        const others = this.#params.get(operation.path) ?? []
        this.#params.set(
          operation.path,
          others.filter(each => JSON.stringify(each) !== gone),
        )
      } else this.#noteParams(operation.path, sent.params)
    }
    const { data } = Object(answer) as { data?: unknown }
    for (const { name } of Array.isArray(data) ? (data as { name?: unknown }[]) : [])
      if (typeof name === 'string') this.#noteParams(`${operation.path}/{name}`, { ...sent.params, name })
    const cursor = (answer as { pagination?: { cursor?: string } } | undefined)?.pagination?.cursor
    if (cursor === undefined) this.#walks.delete(operation.operationId)
    else {
      const { query, authorization } = sent
      this.#walks.set(operation.operationId, { query, authorization, cursor })
    }
    this.#harvest(operation.path, answer)
  }

  #harvest(path: string, value: unknown): void {
    if (Array.isArray(value)) for (const item of value) this.#harvest(path, item)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return
    const fields = value as Record<string, unknown>
    for (const [field, content] of Object.entries(fields)) {
      if (typeof content === 'object') this.#harvest(path, content)
      if (typeof content !== 'string' || content === '') continue
      const isName = field === 'name' && NAMED.some(([of]) => of.test(path))
      if (field === 'id' || isName || HARVESTED.test(field)) this.#note(kindOf(path, field), content)
    }
    // Few operations accept only tokens of one scope.
    const { access_token, scope, scopes = scope } = fields
    if (typeof access_token === 'string' && JSON.stringify(scopes ?? '').includes('"openid'))
      this.#note('openid_token', access_token)
    if (typeof fields.id === 'string' && typeof fields.secret === 'string')
      this.#secrets.set(fields.id, fields.secret)
  }

  #noteParams(path: string, params: Params): void {
    this.#params.set(path, [...(this.#params.get(path) ?? []), params].slice(-MAX_RECENT))
  }

  #note(kind: string, value: string): void {
    const others = (this.#recent.get(kind) ?? []).filter(each => each !== value)
    this.#recent.set(kind, [...others, value].slice(-MAX_RECENT))
  }
}
