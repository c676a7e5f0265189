/** What must not compile. `tsc` fails if a line marked as an error is none, so these hold in both directions. */
import { expect, test } from 'bun:test'
import { clientTypes } from '../../build/client-types.ts'
import { createClient } from '../../src/client/index.ts'
import { controlOperations, helixOperations, oauthOperations, operations } from '../../src/contract/index.ts'
import { type RunningStrand, type Scenario, startStrand } from '../../src/testing/start-strand.ts'
import { areSame } from './contract-types.ts'

const { helix, control, oauth } = createClient({
  baseUrl: 'http://localhost:1',
  fetch: () => Promise.reject(new Error('nothing is sent here')),
  retries: 0,
})

/** Never called: only the compiler reads these. */
export const compiled = [
  // @ts-expect-error a field that GetStreams does not have
  () => helix.getStreams({ user_name: ['lunar_otter'] }),
  // @ts-expect-error a list, not a text
  () => helix.getStreams({ user_login: 'lunar_otter' }),
  // @ts-expect-error a value that is not in the enumeration
  () => helix.getDropsEntitlements({ fulfillment_status: 'LOST' }),
  // @ts-expect-error the user is required
  () => helix.getFollowedStreams({}),
  // @ts-expect-error the user is required
  () => helix.getFollowedStreams(),
  // @ts-expect-error exactly one of user and video
  () => helix.getStreamMarkers({ user_id: '1', video_id: '2' }),
  // @ts-expect-error exactly one of user and video
  () => helix.getStreamMarkers({}),
  // @ts-expect-error this list does not go backwards
  () => helix.getFollowedStreams({ user_id: '1', before: 'x' }),
  // @ts-expect-error one thing has no pages
  () => control.getUser.pages({ user_id: '1' }),
  // @ts-expect-error a list is not one thing
  () => control.listUsers.one(),
  // @ts-expect-error a grant without a benefit
  () => control.grantEntitlements({ grants: [{ user_id: '1', game_id: '2' }] }),
  // @ts-expect-error a number is no id
  () => control.putUser({ user_id: 141981764 }),
  // @ts-expect-error a format that does not exist
  () => helix.exportStreamMarkers({ video_id: '1', format: 'xlsx' }),
  // @ts-expect-error a file is text, without rows
  async () => (await helix.exportStreamMarkers({ video_id: '1', format: 'json' })).data,
  // @ts-expect-error no such operation
  () => oauth.createTokens(),
  // @ts-expect-error an answer without a body has no rows
  async () => (await control.deleteGame({ game_id: '1' })).data,
  // @ts-expect-error a stream has no such field
  async () => (await helix.getStreams()).data[0]?.viewers,
  // @ts-expect-error there is no such operation
  () => control.planFault({ operation: 'GetStreemz', outcome: 'slow' }),
  // @ts-expect-error the grant needs client_id and client_secret
  () => oauth.createToken({ grant_type: 'client_credentials' }),
  // @ts-expect-error the grant needs a refresh token
  () => oauth.createToken({ grant_type: 'refresh_token', client_id: 'a', client_secret: 'b' }),
  // @ts-expect-error there is no such grant
  () => oauth.createToken({ grant_type: 'password', client_id: 'a' }),
  // @ts-expect-error an address is needed
  () => createClient({}),
  // @ts-expect-error there is no such option
  () => createClient({ baseUrl: 'http://localhost:1', tokn: 'a' }),
  // @ts-expect-error there is no such operation
  () => startStrand({ scenario: { faults: [{ operation: 'GetStreemz', outcome: 'slow' }] } }),
  // @ts-expect-error there is no such field, though others fit
  () => startStrand({ scenario: { tokens: { old: { state: 'expired', usr: 'viewer' } } } }),
  // @ts-expect-error there is no such field in a stream
  () => startStrand({ scenario: { users: { star: { stream: { titel: 'Hello', tags: [] } } } } }),
  // @ts-expect-error there is no such entry
  async () => (await startStrand({ scenario: { users: { star: {} } } })).world.scenario.sun,
  async () => {
    const strand = await startStrand({
      scenario: {
        users: { star: { follows: ['viewer', { user: 'editor', followed_seconds_ago: 9 }] } },
        entitlements: { granted: {} },
        tokens: { old: { state: 'expired' } },
      },
    })
    const { star, granted, old } = strand.world.scenario
    const texts: string[] = [star.login, granted.id, old.token]
    const unknown: RunningStrand = strand
    const scenario = {
      entitlements: { granted: {}, stuck: { update_status: 'UPDATE_FAILED' } },
    } satisfies Scenario
    const known: RunningStrand<typeof scenario> = await startStrand({ scenario })
    return [...texts, unknown.world.scenario.granted.id, known.world.scenario.stuck.id] satisfies string[]
  },
  async () => {
    const title: string | undefined = (await helix.getStreams({ user_login: ['a'] as const })).data[0]?.title
    const { id }: { id: string } = await control.createUser.one({ login: 'a', display_name: undefined })
    for await (const { name } of control.listGames.each()) name.toUpperCase()
    const file: string = await helix.exportStreamMarkers({ video_id: '1', format: 'csv', fps: '25' })
    return [title, id, file, await helix.getStreamMarkers({ video_id: '1' })]
  },
]

test('the generated types are those of the contract', () => {
  expect(areSame).toBe(true)
})

test('operations and fields have their descriptions', () => {
  const text = clientTypes()
  for (const { summary, answerLines } of operations)
    if (answerLines === undefined) expect(text).toContain(`   * ${summary}\n`)
  expect(text).toContain('  /** RFC 3339 UTC with milliseconds. */\n  last_updated: string\n')
})

test('every operation of the census is a method of the same name', () => {
  for (const [methods, declared] of [
    [helix, helixOperations],
    [oauth, oauthOperations],
    [control, controlOperations],
  ] as const) {
    const whole = Object.entries(declared).filter(([, operation]) => !('answerLines' in operation))
    expect(Object.keys(methods)).toEqual(whole.map(([name]) => name))
    for (const [name, { id }] of Object.entries(declared))
      expect(name).toBe(id.charAt(0).toLowerCase() + id.slice(1))
  }
})

test('no operation has the same name twice among path, query and body', () => {
  for (const { id, params, query, body } of operations) {
    const names = [params, query, body].flatMap(schema => Object.keys(schema?.properties ?? {}))
    expect([id, new Set(names).size]).toEqual([id, names.length])
  }
})
