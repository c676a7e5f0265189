import { expect } from 'bun:test'
import { createOperator, deleteOperator, listOperators } from '../../../src/contract/control/operators.ts'
import { describeOperation, send } from '../../support/operation.ts'
import type { TestServer } from '../../support/server.ts'
import { asOperator, expectEmpty, naming, newUser, nowOf, walk } from './operator.ts'

const PATH = '/control/operators'
let names = 0
const newName = () => `night-shift-${++names}`

const create = (server: TestServer, name: string) =>
  send(server, createOperator, asOperator(server, { body: { name } }))
const remove = (server: TestServer, name: string) =>
  send(server, deleteOperator, asOperator(server, { path: `${PATH}/${name}` }))
const list = (server: TestServer, query: Record<string, string | number> = {}) =>
  send(server, listOperators, asOperator(server, { query }))

async function newToken(server: TestServer, name = newName()): Promise<string> {
  return (await create(server, name)).body.data[0].token
}

/** What a call with this token is answered. */
const statusWith = async (server: TestServer, token: string) =>
  (await server.call({ path: '/control/games', token })).status

describeOperation(
  createOperator,
  { valid: server => asOperator(server, { body: { name: newName() } }) },
  ({ ok, fails }) => {
    ok(
      'the token opens the control API at once, and what it does is recorded under the name',
      async server => {
        const before = nowOf(server)
        const { body } = await create(server, 'ada-1')
        const [{ token, created_at }] = body.data
        expect(body.data).toEqual([
          { name: 'ada-1', token: expect.stringMatching(/^sopr_[A-Za-z0-9]{38}$/), created_at },
        ])
        expect(Date.parse(created_at)).toBeWithin(before, nowOf(server) + 1)
        const made = await server.call({
          method: 'POST',
          path: '/control/games',
          body: { name: 'Tidefall' },
          token,
        })
        expect(made.status).toBe(200)
        const [row] = await walk(server, '/control/audit', { actor: 'operator/ada-1' })
        expect(row).toMatchObject({ operation: 'CreateGame', subject: `game/${made.body.data[0].id}` })
      },
    )

    ok('the token opens nothing else', async server => {
      const token = await newToken(server)
      expect((await server.call({ path: '/helix/streams', token })).status).toBe(401)
      expect((await server.call({ path: '/oauth2/validate', token })).status).toBe(401)
    })

    fails('taken', 'when the name is in use', async server => {
      const token = await newToken(server, 'twice')
      const answer = naming('twice', create(server, 'twice'))
      await answer
      expect(await statusWith(server, token)).toBe(200)
      return answer
    })
    for (const name of ['', 'Ada', 'a b', 'a/b', 'ä', 'x'.repeat(41)]) {
      fails('malformed_parameter', `when the name is "${name}"`, server =>
        naming('name', create(server, name)),
      )
    }
  },
)

describeOperation(listOperators, { valid: server => asOperator(server) }, ({ ok, fails }) => {
  ok('lists the names in order, page by page, without the tokens', async server => {
    for (const name of ['zed', 'amy', 'bob-2', 'bob']) await create(server, name)
    const all = await walk(server, PATH, { first: 100 })
    const found = all.map(each => each.name)
    expect(found).toEqual([...new Set(found)].sort())
    for (const name of ['zed', 'amy', 'bob-2', 'bob']) expect(found).toContain(name)
    for (const each of all) expect(Object.keys(each).sort()).toEqual(['created_at', 'name'])
    expect(await walk(server, PATH, { first: 2 })).toEqual(all)
  })

  fails('malformed_parameter', 'when first is 0', server => list(server, { first: 0 }))
})

describeOperation(
  deleteOperator,
  {
    valid: async server => {
      const name = newName()
      await create(server, name)
      return asOperator(server, { path: `${PATH}/${name}` })
    },
  },
  ({ ok, fails }) => {
    ok('the token is refused at once, and the others go on', async server => {
      const [gone, stays] = [newName(), newName()]
      const tokens = [await newToken(server, gone), await newToken(server, stays)] as const
      for (const token of tokens) expect(await statusWith(server, token)).toBe(200)
      expectEmpty(await remove(server, gone))
      expect(await statusWith(server, tokens[0])).toBe(401)
      expect(await statusWith(server, tokens[1])).toBe(200)
      expect((await newUser(server)).id).toBeString()
    })

    ok('a name that is made again has another token', async server => {
      const name = newName()
      const first = await newToken(server, name)
      await remove(server, name)
      const second = await newToken(server, name)
      expect([await statusWith(server, first), await statusWith(server, second)]).toEqual([401, 200])
    })

    ok('an operator may take the own token away', async server => {
      const name = newName()
      const token = await newToken(server, name)
      expectEmpty(await server.call({ method: 'DELETE', path: `${PATH}/${name}`, token }))
      expect(await statusWith(server, token)).toBe(401)
    })

    fails('name_not_found', 'when there is no such name', server =>
      naming('unknown', remove(server, 'unknown')),
    )
    fails('operator_invalid', 'with a token that was taken away', async server => {
      const name = newName()
      const token = await newToken(server, name)
      await remove(server, name)
      return server.call({ method: 'DELETE', path: `${PATH}/zed`, token })
    })
  },
)
