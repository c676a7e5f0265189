import { expect } from 'bun:test'
import { reportViewers } from '../../../src/contract/control/viewers.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { asOperator, expectEmpty, newUser, shownStream } from './operator.ts'

const report = (server: TestServer, counts: Record<string, unknown>) =>
  send(server, reportViewers, asOperator(server, { body: { counts } }))

async function newLive(server: TestServer, viewer_count = 0): Promise<string> {
  const { id } = await newUser(server)
  await server.control('PUT', `/channels/${id}/stream`, { viewer_count })
  return id
}

const shown = async (server: TestServer, user_id: string) =>
  (await shownStream(server, user_id))?.viewer_count

const malformed = (name: string, what: string) =>
  `The parameter "${name}" was malformed: the value must be ${what}`

/** User ids that do not exist. */
const strangers = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [String(7_000_000_000 + index), index]))

describeOperation(
  reportViewers,
  { valid: server => asOperator(server, { body: { counts: { [server.world.broadcaster.id]: 478 } } }) },
  ({ ok, fails }) => {
    ok('a look-up by user shows the counts at once', async server => {
      const [one, other] = [await newLive(server), await newLive(server, 5)]
      expectEmpty(await report(server, { [one]: 1234, [other]: 0 }))
      expect(await shown(server, one)).toBe(1234)
      expect(await shown(server, other)).toBe(0)
      expect((await server.control('GET', `/channels/${one}/stream`))[0].viewer_count).toBe(1234)
    })

    ok('the largest count is two thousand million', async server => {
      const user_id = await newLive(server)
      expectEmpty(await report(server, { [user_id]: 2_000_000_000 }))
      expect(await shown(server, user_id)).toBe(2_000_000_000)
    })

    ok('unknown and offline channels are passed over', async server => {
      const { offline } = server.world
      const user_id = await newLive(server)
      expectEmpty(
        await report(server, { '999': 1, abc: 2, '': 3, '{"a"}': 4, [offline.id]: 5, [user_id]: 6 }),
      )
      expect(await shown(server, user_id)).toBe(6)
      expect(await shownStream(server, offline.id)).toBeUndefined()
    })

    ok('a channel that starts again starts with its count', async server => {
      const user_id = await newLive(server)
      await report(server, { [user_id]: 99 })
      await server.control('DELETE', `/channels/${user_id}/stream`)
      await server.control('PUT', `/channels/${user_id}/stream`, {})
      expect(await shown(server, user_id)).toBe(0)
    })

    ok('takes 10,000 channels in a call', async server => {
      const user_id = await newLive(server)
      expectEmpty(await report(server, { ...strangers(9_999), [user_id]: 42 }))
      expect(await shown(server, user_id)).toBe(42)
    })

    ok('none is fine', async server => {
      expectEmpty(await report(server, {}))
    })

    fails('malformed_parameter', 'when there are 10,001, and sets none', async server => {
      const user_id = await newLive(server, 7)
      const answer = await report(server, { ...strangers(10_000), [user_id]: 42 })
      expect(await shown(server, user_id)).toBe(7)
      return answer
    })
    for (const count of [-1, 1.5, '12', null, 2_000_000_001]) {
      fails(
        'malformed_parameter',
        `when a count is ${JSON.stringify(count)}, and sets none`,
        async server => {
          const [one, other] = [await newLive(server, 7), await newLive(server)]
          const answer = await report(server, { [one]: 8, [other]: count })
          expect(await shown(server, one)).toBe(7)
          return answer
        },
      )
    }
    const sentences: [what: string, counts: unknown, message: string][] = [
      ['a number', 7, 'The parameter "counts" was malformed: the value must be an object'],
      [
        'too large',
        strangers(10_001),
        'The parameter "counts" was malformed: the value must have at most 10,000 entries',
      ],
      ['wrong at an id', { 12: -1 }, malformed('counts.12', 'greater than or equal to 0')],
      [
        'wrong at a name',
        { 'a/b~c': 2_000_000_001 },
        malformed('counts.a/b~c', 'less than or equal to 2000000000'),
      ],
      ['wrong at no text', { 'a\0': 1 }, malformed('counts', 'well-formed Unicode without U+0000')],
    ]
    for (const [what, counts, message] of sentences) {
      fails('malformed_parameter', `naming the entry, when counts is ${what}`, async server => {
        const answer = await send(server, reportViewers, asOperator(server, { body: { counts } }))
        expect(JSON.parse(answer.text).message).toBe(message)
        return answer
      })
    }
    fails('malformed_parameter', 'when counts is a list', server =>
      send(server, reportViewers, asOperator(server, { body: { counts: [1, 2] } })),
    )
  },
)
