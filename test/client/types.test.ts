/** What must not compile. `tsc` fails if a line marked as an error is none, so these hold in both directions. */
import { expect, test } from 'bun:test'
import { createClient } from '../../src/client/index.ts'
import { controlOperations, helixOperations, oauthOperations, operations } from '../../src/contract/index.ts'

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
  async () => (await control.deleteUser({ user_id: '1' })).data,
  // @ts-expect-error a stream has no such field
  async () => (await helix.getStreams()).data[0]?.viewers,
  async () => {
    const title: string | undefined = (await helix.getStreams({ user_login: ['a'] as const })).data[0]?.title
    const { id }: { id: string } = await control.createUser.one({ login: 'a', display_name: undefined })
    for await (const { name } of control.listGames.each()) name.toUpperCase()
    const file: string = await helix.exportStreamMarkers({ video_id: '1', format: 'csv', fps: '25' })
    return [title, id, file, await helix.getStreamMarkers({ video_id: '1' })]
  },
]

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
