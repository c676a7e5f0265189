import { expect } from 'bun:test'
import fc from 'fast-check'
import { getUsers } from '../../../src/contract/helix/get-users.ts'
import type { User } from '../../../src/contract/resources/user.ts'
import { describeOperation, send } from '../../support/operation.ts'
import { anyCharacter, runs } from '../../support/properties.ts'
import type { Answer, Ask, TestServer } from '../../support/server.ts'
import { withMessage } from './page-rules.ts'
import { newUser, userToken } from './profiles.ts'

const SCOPE = 'user:read:email'
const BAD_IDENTIFIERS = 'Invalid username(s), email(s), or ID(s). Bad Identifiers.'
const FIELDS = [
  'id',
  'login',
  'display_name',
  'type',
  'broadcaster_type',
  'description',
  'profile_image_url',
  'offline_image_url',
  'view_count',
  'created_at',
]

const ask = (server: TestServer, changes: Ask = {}) =>
  send(server, getUsers, { token: server.world.client.app_token, ...changes })
const valid = ({ world }: TestServer): Ask => ({
  token: world.client.app_token,
  query: { login: world.broadcaster.login },
})
const idsIn = (answer: Answer): string[] => answer.body.data.map((row: { id: string }) => row.id)
const tooMany = (name: string) =>
  `The parameter "${name}" was malformed: the value must be less than or equal to 100`
const many = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${name}=${n}`).join('&')

describeOperation(getUsers, { valid }, ({ ok, fails }) => {
  ok('gives exactly these fields, with whole seconds and no pagination (D-63, D-66, D-72)', async server => {
    const user = await newUser(server, {
      display_name: 'Lunar Otter',
      description: 'Night dives and slow games.',
      broadcaster_type: 'affiliate',
      email: 'otter@example.com',
      created_at: '2026-02-01T09:30:00.999Z',
    })
    const answer = await ask(server, { query: { id: user.id } })
    expect(answer.text).toBe(
      JSON.stringify({
        data: [
          {
            id: user.id,
            login: user.login,
            display_name: 'Lunar Otter',
            type: '',
            broadcaster_type: 'affiliate',
            description: 'Night dives and slow games.',
            profile_image_url: `${server.url}/images/users/${user.id}-300x300.png`,
            offline_image_url: '',
            view_count: 0,
            created_at: '2026-02-01T09:30:00Z',
          },
        ],
      }),
    )
  })

  ok('unset text is empty, never null or missing (D-65)', async server => {
    const user = await newUser(server)
    const answer = await ask(server, { query: { id: user.id } })
    const [row] = answer.body.data
    expect(Object.keys(row)).toEqual(FIELDS)
    expect([row.description, row.broadcaster_type]).toEqual(['', ''])
  })

  ok('finds by id, by login in any case, and by both: all ids first, each row once', async server => {
    const [a, b, c] = [await newUser(server), await newUser(server), await newUser(server)]
    expect(idsIn(await ask(server, { query: { id: [c.id, a.id, b.id] } }))).toEqual([c.id, a.id, b.id])
    const upper = b.login.toUpperCase()
    const byLogin = await ask(server, { query: { login: [upper, a.login, b.login] } })
    expect(idsIn(byLogin)).toEqual([b.id, a.id])
    expect(byLogin.body.data[0].login).toBe(b.login)
    const mixed = await ask(server, { search: `login=${upper}&login=${c.login}&id=${a.id}&id=${b.id}` })
    expect(idsIn(mixed)).toEqual([a.id, b.id, c.id])
  })

  ok('unknown values and values of another form are absent; the others are found (D-62)', async server => {
    const user = await newUser(server, { login: `kelvin_${server.engine}` })
    const odd = [
      '999',
      'x',
      `0${user.id}`,
      ` ${user.id}`,
      `${user.id},1`,
      `${user.id}'`,
      '-1',
      '💾',
      '9'.repeat(400),
    ]
    const answer = await ask(server, {
      query: {
        id: [...odd, user.id],
        login: [...odd, `${user.login}%`, '_'.repeat(300), `\u212Aelvin_${server.engine}`, 'Ⅻ', 'a b'],
      },
    })
    expect(idsIn(answer)).toEqual([user.id])
    expect((await ask(server, { query: { login: [`\u212Aelvin_${server.engine}`] } })).body).toEqual({
      data: [],
    })
    expect((await ask(server, { query: { id: '999' } })).body).toEqual({ data: [] })
  })

  ok('100 values are accepted, and a batch of 100 users is whole, whatever first is (D-63)', async server => {
    const { users } = server.world
    const ids = users.slice(0, 60).map(user => user.id)
    const rest = Array.from({ length: 100 - ids.length }, (_, n) => `nobody_${n}`)
    const answer = await ask(server, {
      query: { id: ids, login: rest, first: 1, after: 'x', before: 'y' },
    })
    expect(idsIn(answer)).toEqual(ids)
  })

  ok("without id and login: the token's user, whatever its scopes", async server => {
    const user = await newUser(server)
    const answer = await ask(server, { token: await userToken(server, user) })
    expect(idsIn(answer)).toEqual([user.id])
    expect(idsIn(await ask(server, { token: await userToken(server, user), search: 'first=&x=1' }))).toEqual([
      user.id,
    ])
  })

  ok('an empty value beside another is looked up and found nothing (D-70)', async server => {
    const [user, other] = [await newUser(server), await newUser(server)]
    const token = await userToken(server, other)
    expect(idsIn(await ask(server, { token, search: `id=&login=${user.login}` }))).toEqual([user.id])
    expect(idsIn(await ask(server, { token, search: `login=&login=${user.login}` }))).toEqual([user.id])
    expect(idsIn(await ask(server, { token, search: 'id=&login=nobody_here' }))).toEqual([])
  })

  ok('a login that is no login does not give the account of the caller', async server => {
    const user = await newUser(server)
    const token = await userToken(server, user)
    for (const search of ['login=%20', 'login=%C3%A9', 'id=%20', 'login=a%20b'])
      expect((await ask(server, { token, search })).body).toEqual({ data: [] })
  })

  ok("email is in the own row with the scope: the address, or '' (D-71)", async server => {
    const [user, other] = [
      await newUser(server, { email: 'otter@example.com' }),
      await newUser(server, { email: 'heron@example.com' }),
    ]
    const token = await userToken(server, user, [SCOPE])
    const own = await ask(server, { token })
    expect(own.body.data[0].email).toBe('otter@example.com')
    expect(Object.keys(own.body.data[0]).sort()).toEqual([...FIELDS, 'email'].sort())
    const both = await ask(server, { token, query: { id: other.id, login: user.login } })
    expect(both.body.data.map((row: object) => ('email' in row ? row.email : 'absent'))).toEqual([
      'absent',
      'otter@example.com',
    ])
    const bare = await newUser(server)
    expect((await ask(server, { token: await userToken(server, bare, [SCOPE]) })).body.data[0].email).toBe('')
  })

  ok('email is absent everywhere else: other users, without the scope, app tokens (D-71)', async server => {
    const user = await newUser(server, { email: 'secret-address@example.com' })
    const other = await newUser(server)
    const tokens = [
      server.world.client.app_token,
      await userToken(server, user),
      await userToken(server, user, ['user:edit', 'user:read:follows']),
      await userToken(server, other, [SCOPE]),
    ]
    for (const token of tokens) {
      const answer = await ask(server, { token, query: { id: user.id, login: user.login } })
      expect(Object.keys(answer.body.data[0])).toEqual(FIELDS)
      expect(answer.text).not.toContain('secret-address')
    }
  })

  ok('shows every answered change at once (D-68)', async server => {
    const user = await newUser(server)
    await server.control('PUT', `/users/${user.id}`, { login: `${user.login}x`, display_name: 'Other' })
    expect(idsIn(await ask(server, { query: { login: user.login } }))).toEqual([])
    const answer = await ask(server, { query: { login: `${user.login}x` } })
    expect(answer.body.data[0].display_name).toBe('Other')
    await server.control('DELETE', `/users/${user.id}`)
    expect((await ask(server, { query: { id: user.id } })).body).toEqual({ data: [] })
  })

  ok(
    'property: any mix of ids, logins, repeated and odd values gives the rows of a model, in order',
    async server => {
      const users: User[] = []
      for (let n = 0; n < 8; n++) users.push(await newUser(server))
      const id = fc.oneof(fc.constantFrom(...users.map(user => user.id)), fc.string({ unit: anyCharacter }))
      const login = fc.oneof(
        fc.constantFrom(...users.flatMap(user => [user.login, user.login.toUpperCase()])),
        fc.string({ unit: 'grapheme', maxLength: 30 }),
      )
      const isText = (values: readonly string[]) =>
        values.every(value => value.isWellFormed() && !value.includes('\0'))
      await fc.assert(
        fc.asyncProperty(
          fc.array(id, { maxLength: 12 }).filter(isText),
          fc.array(login, { maxLength: 12 }),
          fc.boolean(),
          async (ids, logins, loginsFirst) => {
            fc.pre([...ids, ...logins].some(value => value !== ''))
            const query = loginsFirst ? { login: logins, id: ids } : { id: ids, login: logins }
            const answer = await ask(server, { query })
            expect(answer.status).toBe(200)
            const known = new Map(
              users.flatMap(
                user =>
                  [
                    [user.id, user],
                    [user.login, user],
                  ] as const,
              ),
            )
            const named = [
              ...ids,
              ...logins.filter(each => /^\w+$/.test(each)).map(each => each.toLowerCase()),
            ]
            const expected = named.flatMap(each => known.get(each)?.id ?? [])
            // What fast-check makes up may be the id or login of a user in the world.
            expect(idsIn(answer).filter(each => known.has(each))).toEqual([...new Set(expected)])
          },
        ),
        { numRuns: runs(60) },
      )
    },
  )

  fails('no_identifier', 'with an app token and neither id nor login', async server =>
    withMessage(await ask(server), 'Must provide an ID, Login or OAuth Token'),
  )
  for (const search of ['login=', 'id=', 'id=&login=', 'login=&login=', 'login&id']) {
    fails('bad_identifiers', `with only empty values: ${search}`, async server => {
      const token = await userToken(server, await newUser(server))
      const answer = await ask(server, { token, search })
      expect(answer.body.message).toBe(BAD_IDENTIFIERS)
      return withMessage(await ask(server, { search }), BAD_IDENTIFIERS)
    })
  }
  fails('bad_identifiers', 'with only empty values, however many', async server =>
    withMessage(await ask(server, { search: 'id=&'.repeat(101) }), BAD_IDENTIFIERS),
  )
  fails('malformed_parameter', 'with more than 100 values of one key', async server =>
    withMessage(await ask(server, { search: many('login', 101) }), tooMany('login')),
  )
  fails(
    'malformed_parameter',
    'with more than 100 values together, naming the first key sent',
    async server => {
      expect((await ask(server, { search: `${many('id', 50)}&${many('login', 51)}` })).body.message).toBe(
        tooMany('id'),
      )
      return withMessage(
        await ask(server, { search: `${many('login', 1)}&${many('id', 100)}` }),
        tooMany('login'),
      )
    },
  )
  fails('malformed_parameter', 'when an id contains U+0000', server => ask(server, { search: 'id=a%00b' }))
})
