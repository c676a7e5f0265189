import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { StreamKeys } from '../../src/auth/stream-keys.ts'
import { demoSecret } from '../../src/demo/demo-secret.ts'
import { planWorld } from '../../src/demo/world.ts'
import { sha256Hex } from '../../src/kit/crypto/digest.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import type { Step } from '../../src/store/command-list.ts'

/** The world that `npm start` serves, as one text. */
const streamKeys = new StreamKeys(new KeyRing([{ id: 'any', bytes: new Uint8Array(32) }]))
const plan = planWorld({ seed: 42, streams: 200 }, Date.now(), streamKeys)
const world = `${JSON.stringify(plan.world)} ${JSON.stringify(plan.steps)} ${demoSecret(42, 'operator', 'demo')}`

const PLACEHOLDERS = [
  '11111111-2222-4333-8444-555555555555',
  '11111111-2222-4333-8444-000000000000',
  '00000000-0000-4000-8000-000000000000',
]

for (const document of [
  'README.md',
  'docs/quickstart.md',
  'docs/drops.md',
  'docs/campaigns.md',
  'docs/oauth.md',
]) {
  test(`${document} quotes tokens, ids and logins that the demo has`, () => {
    const text = readFileSync(document, 'utf8')
    const quoted = [
      ...(text.match(/\bs(?:app|usr|ref|sec|opr)_[A-Za-z0-9]{38}\b/g) ?? []),
      ...(text.match(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g) ?? []),
      ...(text.match(/\b1[0-9]{8}\b/g) ?? []),
    ]
    expect(quoted.length).toBeGreaterThan(2)
    expect(
      [...new Set(quoted)].filter(each => !PLACEHOLDERS.includes(each) && !world.includes(each)),
    ).toEqual([])
  })
}

/** Of the world that `npm start` serves, without scopes and the campaign, which is tested below. A changed digest breaks the commands people kept. */
test('ids, logins and tokens of a seed stay what they were', () => {
  const known = JSON.stringify(plan.world, (key, value) =>
    ['scopes', 'campaign'].includes(key) ? undefined : value,
  )
  expect(sha256Hex(known)).toBe('8aad61bcd1143d0214ec9bb60fc21bc4ec0ffe36b3aa6f527c97a8a56205e31b')
})

describe('the demo fills every field (D-94)', () => {
  const argsOf = <N extends Step[0]>(name: N) =>
    plan.steps
      .filter(step => step[0] === name)
      .map(step => step[1] as Extract<Step, readonly [N, unknown]>[1])

  test('the same from the same seed at the same time', () => {
    const now = Date.now()
    const facts = () =>
      planWorld({ seed: 42, streams: 20 }, now, streamKeys).steps.filter(([name]) =>
        ['putUser', 'putGame', 'changeChannel', 'putEditor', 'putFollows', 'importLines'].includes(name),
      )
    const plain = (steps: readonly Step[]) =>
      JSON.stringify(steps, (key, value) => (['password_hash', 'stream_key'].includes(key) ? '' : value))
    expect(plain(facts())).toBe(plain(facts()))
  })

  test('users have texts, addresses of example.com and ranks; the first broadcaster is a partner', () => {
    const users = argsOf('putUser')
    expect(users.every(user => (user.description ?? '') !== '')).toBe(true)
    expect(users.every(user => user.email === `${user.login}@example.com`)).toBe(true)
    expect(users.find(user => user.id === plan.world.broadcaster.id)?.broadcaster_type).toBe('partner')
    expect(new Set(users.map(user => user.broadcaster_type))).toEqual(new Set(['', 'affiliate', 'partner']))
    const otherwise = users.filter(user => user.display_name?.toLowerCase() !== user.login)
    expect(otherwise.map(user => user.display_name)).toEqual(['灯台のカワウソ'])
  })

  test('games have ids of IGDB, one name several words', () => {
    const games = argsOf('putGame')
    expect(new Set(games.map(game => game.igdb_id)).size).toBe(games.length)
    expect(games.every(game => /^[1-9][0-9]+$/.test(game.igdb_id ?? ''))).toBe(true)
    expect(games.some(game => game.name?.includes(' '))).toBe(true)
  })

  test('channels have labels and brands; only partners have a delay', () => {
    const partners = argsOf('putUser').filter(user => user.broadcaster_type === 'partner')
    const channels = argsOf('changeChannel')
    expect(channels.some(channel => (channel.content_classification_labels ?? []).length > 0)).toBe(true)
    expect(channels.some(channel => channel.is_branded_content)).toBe(true)
    const delayed = channels.filter(channel => (channel.delay ?? 0) > 0)
    expect(delayed.length).toBeGreaterThan(0)
    const ids = new Set(partners.map(user => user.id))
    expect(delayed.every(channel => ids.has(channel.user_id))).toBe(true)
  })

  test('follows and editors have different times, after both accounts were made', () => {
    const created = new Map(argsOf('putUser').map(user => [user.id, user.now]))
    const follows = argsOf('putFollows').flatMap(({ follows }) => follows)
    const dated = [
      ...follows.map(follow => [follow.followed_at, follow.user_id, follow.broadcaster_id] as const),
      ...argsOf('putEditor').map(each => [each.created_at, each.user_id, each.editor_id] as const),
    ]
    for (const [time = '', ...people] of dated)
      for (const id of people)
        expect(Date.parse(time)).toBeWithin((created.get(id) ?? Number.POSITIVE_INFINITY) + 1, Date.now())
    expect(new Set(dated.map(([time]) => time)).size).toBeGreaterThan(dated.length / 2)
  })

  test('some channels have videos of earlier streams with view counts', () => {
    const videos = argsOf('importLines').flatMap(({ lines }) => lines)
    expect(new Set(videos.map(line => 'user_id' in line && line.user_id)).size).toBeGreaterThan(3)
    for (const line of videos)
      expect(line).toMatchObject({
        type: 'video',
        stream_id: expect.stringMatching(/^[1-9][0-9]+$/),
        title: expect.any(String),
        description: expect.any(String),
        language: expect.any(String),
        game_id: expect.any(String),
        view_count: expect.any(Number),
      })
  })
})
