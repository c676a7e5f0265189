import { expect } from 'bun:test'
import { updateUser } from '../../../src/contract/helix/update-user.ts'
import { describeOperation, expectProblem, send } from '../../support/operation.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'
import { withMessage } from './page-rules.ts'
import { newUser, userToken } from './profiles.ts'

const SCOPE = 'user:edit'
const ask = (server: TestServer, changes: Ask = {}) => send(server, updateUser, changes)
const valid = ({ world }: TestServer): Ask => ({
  token: world.viewer.token,
  query: { description: 'Watches at night.' },
})
const descriptionIn = (answer: Answer): string => answer.body.data[0].description

async function newCaller(server: TestServer, scopes: readonly string[] = [SCOPE], description = 'Before') {
  const user = await newUser(server, { description, email: 'otter@example.com' })
  return { user, token: await userToken(server, user, scopes) }
}

const storedDescription = async (server: TestServer, id: string): Promise<string | undefined> =>
  (await server.strand.services.store.users.find(id))?.description

const auditOf = async (server: TestServer, id: string) => {
  const rows = await server.control('GET', `/audit?subject=user/${id}&actor=user/${id}`)
  return rows as { actor: string; operation: string; before: unknown; after: unknown }[]
}

describeOperation(updateUser, { valid }, ({ ok, fails }) => {
  ok('changes the description and answers with exactly one row as GetUsers', async server => {
    const { user, token } = await newCaller(server)
    const answer = await ask(server, { token, query: { description: 'Slow games & tea ☕' } })
    expect(descriptionIn(answer)).toBe('Slow games & tea ☕')
    expect(await storedDescription(server, user.id)).toBe('Slow games & tea ☕')
    const got = await server.call({ path: '/helix/users', token })
    expect(answer.text).toBe(got.text)
    expect(answer.body.data).toHaveLength(1)
  })

  ok('email is in the answer only with user:read:email (D-71)', async server => {
    const without = await newCaller(server)
    expect(await ask(server, { token: without.token })).toHaveProperty('body.data.0')
    expect((await ask(server, { token: without.token })).text).not.toContain('email')
    const { token } = await newCaller(server, [SCOPE, 'user:read:email'])
    expect((await ask(server, { token, query: { description: 'x' } })).body.data[0].email).toBe(
      'otter@example.com',
    )
  })

  ok('without description nothing changes (D-73)', async server => {
    const { user, token } = await newCaller(server)
    for (const search of ['', 'x=1', 'first=1'])
      expect(descriptionIn(await ask(server, { token, search }))).toBe('Before')
    expect(await auditOf(server, user.id)).toEqual([])
  })

  ok('an empty description clears it (D-73)', async server => {
    for (const search of ['description=', 'description']) {
      const { user, token } = await newCaller(server)
      expect(descriptionIn(await ask(server, { token, search }))).toBe('')
      expect(await storedDescription(server, user.id)).toBe('')
    }
  })

  ok('300 code points are accepted, beyond the BMP too', async server => {
    const { token } = await newCaller(server)
    const description = '🐙'.repeat(300)
    expect(descriptionIn(await ask(server, { token, query: { description } }))).toBe(description)
  })

  ok('a body of any type and content is ignored', async server => {
    const { token } = await newCaller(server)
    for (const [type, rawBody] of [
      ['application/json', ''],
      ['application/json', '{"description":"in the body"}'],
      ['text/plain', 'not JSON'],
      ['application/x-www-form-urlencoded', 'description=form'],
    ] as const) {
      const answer = await ask(server, {
        token,
        rawBody,
        headers: { 'Content-Type': type },
        query: { description: `with ${type}` },
      })
      expect([answer.status, descriptionIn(answer)]).toEqual([200, `with ${type}`])
    }
  })

  ok('writes one audit row with the user as the actor, and without the address (D-69)', async server => {
    const { user, token } = await newCaller(server)
    await ask(server, { token, query: { description: 'After' } })
    const rows = await auditOf(server, user.id)
    expect(rows).toHaveLength(1)
    expect(rows[0]).toMatchObject({
      chain: expect.stringMatching(/^user(\/\d+)?$/),
      actor: `user/${user.id}`,
      operation: 'UpdateUser',
      before: { id: user.id, description: 'Before' },
      after: { id: user.id, description: 'After' },
    })
    expect(JSON.stringify(rows)).not.toContain('example.com')
    expect(await server.strand.services.store.audit.verify()).toHaveProperty('rows')
  })

  ok('writes no audit row when nothing changes (D-69)', async server => {
    const { user, token } = await newCaller(server)
    await ask(server, { token, query: { description: 'Before' } })
    expect(await auditOf(server, user.id)).toEqual([])
  })

  ok('changes nothing else, and no other user', async server => {
    const { user, token } = await newCaller(server)
    const other = await newUser(server, { description: 'Other' })
    const { users } = server.strand.services.store
    const before = await users.find(user.id)
    await ask(server, {
      token,
      search: `description=New&id=${other.id}&login=${other.login}&email=x%40example.com`,
    })
    expect(await users.find(user.id)).toEqual({ ...user, ...before, description: 'New' })
    expect(await users.find(other.id)).toEqual(other)
  })

  ok('concurrent changes end with one of them', async server => {
    const { user, token } = await newCaller(server)
    const texts = Array.from({ length: 10 }, (_, n) => `Text ${n}`)
    const answers = await Promise.all(
      texts.map(description => ask(server, { token, query: { description } })),
    )
    expect(answers.map(descriptionIn)).toEqual(texts)
    expect(texts).toContain((await storedDescription(server, user.id)) ?? '')
  })

  fails(
    'malformed_parameter',
    'when the description has more than 300 code points; nothing changes',
    async server => {
      const { user, token } = await newCaller(server)
      const answer = await ask(server, { token, query: { description: 'é'.repeat(301) } })
      expect(await storedDescription(server, user.id)).toBe('Before')
      return withMessage(
        answer,
        'The parameter "description" was malformed: the value must be at most 300 characters',
      )
    },
  )
  fails('repeated_parameter', 'when description is given twice, once empty', async server => {
    const { token } = await newCaller(server)
    return ask(server, { token, search: 'description=&description=x' })
  })
  fails('scope_missing', 'without user:edit, and changes nothing', async server => {
    const { user, token } = await newCaller(server, ['user:read:email'])
    const answer = await ask(server, { token, query: { description: 'x' } })
    expect(await storedDescription(server, user.id)).toBe('Before')
    return withMessage(answer, 'Missing scope: user:edit')
  })
  fails('token_invalid', 'when the user is gone', async server => {
    const { user, token } = await newCaller(server)
    await server.control('DELETE', `/users/${user.id}`)
    expectProblem(updateUser, await ask(server, { token }), 'token_invalid')
    return ask(server, { token, query: { description: 'x' } })
  })
})
