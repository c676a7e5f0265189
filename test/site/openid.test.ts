/** What the scope `openid` changes about the authorize page and its tokens, and what stays as it is without it. */
import { expect, test } from 'bun:test'
import { decodeJwt } from 'jose'
import {
  allow,
  authorizeLink,
  codeFor,
  loggedIn,
  redeem,
  register,
  type TestApplication,
} from '../support/browser/consent.ts'
import { carried, Person } from '../support/browser/person.ts'
import { onEachStore } from '../support/server/each-store.ts'

const scope = 'openid'
const errorIn = (location: string | null) => carried(location).get('error')

onEachStore('OpenID Connect on the authorize page', {}, server => {
  const idTokenFor = async (
    application: TestApplication,
    person: Person,
    changes: Record<string, string>,
  ) => {
    const { location } = await allow(person, authorizeLink(application.id, { scope, ...changes }))
    const { body } = await redeem(server(), application, carried(location).get('code') ?? '')
    return body.id_token as string
  }

  test('200 the question states what the scope is for', async () => {
    const person = await loggedIn(server())
    const { html } = await person.browse(authorizeLink((await register(server())).id, { scope }))
    expect(html).toContain('See who you are')
    expect(html).not.toContain('has no effect')
  })

  test('200 the token endpoint of clients that know the API answers as before, and with an id_token', async () => {
    const application = await register(server())
    const fields = ['access_token', 'expires_in', 'refresh_token', 'scope', 'token_type']
    const without = await redeem(server(), application, await codeFor(server(), application))
    expect(Object.keys(without.body).sort()).toEqual(fields)
    const code = await codeFor(server(), application, { scope, nonce: 'n-0S6_WzA2Mj' })
    const { body } = await redeem(server(), application, code)
    expect(Object.keys(body).sort()).toEqual([...fields, 'id_token'].sort())
    expect(body.scope).toEqual(['openid'])
    expect(decodeJwt(body.id_token).nonce).toBe('n-0S6_WzA2Mj')
  })

  test('200 a nonce comes back as it was, and none is none', async () => {
    const application = await register(server())
    const person = await loggedIn(server())
    for (const nonce of ['a', '&=?#%20"<>', 'ü ☃', 'n'.repeat(1000)]) {
      expect(decodeJwt(await idTokenFor(application, person, { nonce })).nonce).toBe(nonce)
    }
    expect(decodeJwt(await idTokenFor(application, person, {}))).not.toHaveProperty('nonce')
    const tooLong = await person.open(authorizeLink(application.id, { scope, nonce: 'n'.repeat(1001) }))
    expect(tooLong.status).toBe(400)
  })

  test('302 prompt=none never shows a page', async () => {
    const application = await register(server())
    const link = authorizeLink(application.id, { scope, prompt: 'none' })
    const stranger = await new Person(server()).open(link)
    expect([stranger.status, errorIn(stranger.location)]).toEqual([302, 'login_required'])
    expect(carried(stranger.location).get('state')).toBe('state of the app')
    const person = await loggedIn(server())
    expect(errorIn((await person.open(link)).location)).toBe('consent_required')
    await allow(person, authorizeLink(application.id, { scope }))
    expect(carried((await person.open(link)).location).has('code')).toBe(true)
  })

  test('200 prompt=consent asks again, and prompt=login has the person log in again, once', async () => {
    const application = await register(server())
    const person = await loggedIn(server())
    await allow(person, authorizeLink(application.id, { scope }))
    const asked = await person.browse(authorizeLink(application.id, { scope, prompt: 'consent' }))
    expect(asked.html).toContain('asks for access')

    const { login } = server().world.broadcaster
    const password = server().world.users[0]?.password ?? ''
    await server().control('POST', '/clock', { advance_seconds: 500 })
    const before = await person.browse(authorizeLink(application.id, { scope, prompt: 'login' }))
    expect([before.status, before.html.includes('Log in')]).toEqual([200, true])
    const after = await person.submit('/login', { login, password })
    expect(carried(after.location).has('code')).toBe(true)
    await person.browse(authorizeLink(application.id, { scope, prompt: 'login consent' }))
    expect((await person.submit('/login', { login, password })).html).toContain('asks for access')
  })

  test('200 a log-in older than max_age is asked for again, and the ID token has its time', async () => {
    const application = await register(server())
    const person = await loggedIn(server())
    const first = decodeJwt(await idTokenFor(application, person, { max_age: '3600' }))
    await server().control('POST', '/clock', { advance_seconds: 1000 })
    const second = decodeJwt(await idTokenFor(application, person, { max_age: '3600' }))
    expect(second.auth_time).toBe(first.auth_time as number)
    const old = await person.browse(authorizeLink(application.id, { scope, max_age: '900' }))
    expect(old.html).toContain('Log in')
    const { login } = server().world.broadcaster
    const password = server().world.users[0]?.password ?? ''
    const { location } = await person.submit('/login', { login, password })
    const { body } = await redeem(server(), application, carried(location).get('code') ?? '')
    expect(decodeJwt(body.id_token).auth_time as number).toBeGreaterThan((first.auth_time as number) + 900)
  })

  test('302 what makes no sense is sent to the application, and means nothing without the scope', async () => {
    const application = await register(server())
    const person = await loggedIn(server())
    for (const odd of [{ max_age: '-1' }, { max_age: 'soon' }, { prompt: 'none login' }]) {
      const { location } = await person.open(authorizeLink(application.id, { scope, ...odd }))
      expect(errorIn(location)).toBe('invalid_request')
      expect((await person.open(authorizeLink(application.id, odd))).html).toContain('asks for access')
    }
    const { location } = await person.open(
      authorizeLink(application.id, { scope, response_type: 'id_token' }),
    )
    expect(errorIn(location)).toBe('unsupported_response_type')
  })

  test('302 the implicit grant stays as it is', async () => {
    const application = await register(server(), { implicit_grant: true })
    const person = await loggedIn(server())
    const { location } = await allow(person, authorizeLink(application.id, { scope, response_type: 'token' }))
    expect([...carried(location, 'hash').keys()].sort()).toEqual([
      'access_token',
      'scope',
      'state',
      'token_type',
    ])
  })
})
