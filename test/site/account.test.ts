/** The account page: applications, sessions and the password are the person's own. */
import { expect, test } from 'bun:test'
import { isoMillis } from '../../src/kit/time/clock.ts'
import {
  allow,
  authorizeLink,
  codeFor,
  loggedIn,
  redeem,
  register,
  validate,
} from '../support/browser/consent.ts'
import { Person } from '../support/browser/person.ts'
import { usingCheapPasswords } from '../support/server/cheap-passwords.ts'
import { onEachStore } from '../support/server/each-store.ts'

usingCheapPasswords()

onEachStore('the account page', {}, server => {
  const newUser = async () => {
    const login = `person_${Math.floor(Math.random() * 1e9)}`
    const password = 'the first password'
    const [{ id }] = await server().control('POST', '/users', { login, password })
    const enter = async () => {
      const person = new Person(server())
      await person.browse('/login')
      await person.submit('/login', { login, password })
      return person
    }
    return { id, login, password, enter }
  }

  test('302 a visitor who is not logged in logs in first and comes back', async () => {
    expect((await new Person(server()).open('/account')).location).toBe('/login?next=/account')
  })

  test('200 shows connected applications with their scopes in words, and disconnecting ends their tokens', async () => {
    const application = await register(server(), { name: 'Chat <b>bot</b>' })
    const bystander = await register(server(), { name: 'Bystander' })
    const person = await loggedIn(server())
    const tokens: string[] = []
    for (const client of [application, application, bystander]) {
      const { location } = await allow(person, authorizeLink(client.id))
      const code = new URL(location ?? '').searchParams.get('code') ?? ''
      const { body } = await redeem(server(), client, code)
      tokens.push(body.access_token, body.refresh_token)
    }
    const { location } = await allow(person, authorizeLink(application.id))
    const unused = new URL(location ?? '').searchParams.get('code') ?? ''

    const shown = await person.browse('/account')
    expect(shown.html).toContain('Chat &lt;b>bot&lt;/b>')
    expect(shown.html).toContain('See which channels you follow')
    const done = await person.submit('/account/disconnect', { client_id: application.id })
    expect(done.html).toContain('Its tokens are no longer valid')
    expect(done.html).not.toContain('Chat &lt;b>bot')
    expect(done.html).toContain('Bystander')

    for (const token of [tokens[0], tokens[2]])
      expect((await validate(server(), token ?? '')).status).toBe(401)
    expect((await validate(server(), tokens[4] ?? '')).status).toBe(200)
    expect((await redeem(server(), application, unused)).body.message).toBe('Invalid authorization code')
    const refreshed = await server().call({
      method: 'POST',
      path: '/oauth2/token',
      body: {
        grant_type: 'refresh_token',
        client_id: application.id,
        client_secret: application.secret,
        refresh_token: tokens[1],
      },
    })
    expect(refreshed.body.message).toBe('Invalid refresh token')
    const asked = await person.browse(authorizeLink(application.id))
    expect(asked.html).toContain('asks for access')
  })

  test('200 shows the browsers that are logged in, and logs one out', async () => {
    const { enter } = await newUser()
    const here = await enter()
    const there = new Person(server())
    there.headers = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' }
    await there.browse('/login')
    const elsewhere = await enter()
    const shown = await here.browse('/account')
    const forms = shown.forms.filter(form => form.action === '/account/end-session')
    expect(forms).toHaveLength(1)
    expect(shown.html).toContain('this browser')
    expect((await here.submit('/account/end-session')).html).toContain('The session has ended.')
    expect((await elsewhere.open('/account')).location).toBe('/login?next=/account')
    expect((await here.open('/account')).status).toBe(200)
  })

  test('302 the one button "Log out" leads to the start page, which confirms it', async () => {
    const { enter } = await newUser()
    const person = await enter()
    await enter()
    const shown = await person.browse('/account')
    expect(shown.html.match(/>Log out</g)).toHaveLength(1)
    person.headers = { Accept: 'text/html' }
    const start = await person.submit('/logout')
    expect(start.html).toContain('<p class="notice good" role="status">You are logged out.</p>')
    expect(start.html).toContain('class="home-page"')
    expect((await person.open('/account')).location).toBe('/login?next=/account')
  })

  test('302 a person who ends the session of this browser is led to the same page', async () => {
    const { enter } = await newUser()
    const [here, there] = [await enter(), await enter()]
    await there.browse('/account')
    const own = there.seen?.forms.find(form => form.action === '/account/end-session')?.fields.session_id
    await here.browse('/account')
    expect((await here.post('/account/end-session', { session_id: own ?? '' })).location).toBe(
      '/?done=logged-out',
    )
  })

  test('302 no person ends the session of another', async () => {
    const [one, two] = [await newUser(), await newUser()]
    const [a, other, b] = [await one.enter(), await one.enter(), await two.enter()]
    await two.enter()
    const shown = await a.browse('/account')
    const id = shown.forms.find(form => form.action === '/account/end-session')?.fields.session_id ?? ''
    expect(id).not.toBe('')
    await b.browse('/account')
    await b.submit('/account/end-session', { session_id: id })
    expect((await other.open('/account')).status).toBe(200)
  })

  test('200 a new password ends tokens, codes and other browsers, and this one stays', async () => {
    const { id, login, password, enter } = await newUser()
    const [here, elsewhere] = [await enter(), await enter()]
    const application = await register(server())
    const { location } = await allow(here, authorizeLink(application.id))
    const code = new URL(location ?? '').searchParams.get('code') ?? ''
    const [{ access_token }] = await server().control('POST', '/tokens', {
      client_id: application.id,
      user_id: id,
    })
    await here.browse('/account')
    const done = await here.submit('/account/password', {
      current: password,
      password: 'the second password',
    })
    expect(done.html).toContain('Your password has been changed')
    expect((await elsewhere.open('/account')).location).toBe('/login?next=/account')
    expect((await validate(server(), access_token)).status).toBe(401)
    expect((await redeem(server(), application, code)).status).toBe(400)
    const again = new Person(server())
    await again.browse('/login')
    expect((await again.submit('/login', { login, password })).status).toBe(401)
    expect((await again.submit('/login', { login, password: 'the second password' })).status).toBe(200)
  })

  test('401 a log-in whose password is changed while it is checked', async () => {
    const { id, login, password } = await newUser()
    const { store, clock } = server().strand.services
    const account = await store.accounts.credentials(login)
    expect(account?.id).toBe(id)
    await server().control('PUT', `/users/${id}`, { password: `${password} and more` })
    const now = clock.now()
    const session = { hash: 'h', id: 's', user_id: id, expires_at: isoMillis(now + 1000), browser: '' }
    const started = await store.commands.startSession({
      session,
      password_hash: account?.password_hash ?? '',
      now: isoMillis(now),
    })
    expect(started).toMatchObject({ problem: 'not_found' })
    expect(await store.accounts.sessionWithId('s')).toBeUndefined()
  })

  test('400 a wrong current or a short new password changes nothing, and guessing it is limited', async () => {
    const { password, enter } = await newUser()
    const person = await enter()
    await person.browse('/account')
    const short = await person.submit('/account/password', { current: password, password: 'short' })
    expect([short.status, short.html.includes('at least 8 characters')]).toEqual([400, true])
    for (let n = 0; n < 10; n++) {
      const wrong = await person.submit('/account/password', { current: 'wrong', password: 'long enough' })
      expect(wrong.html).toContain('The current password is incorrect')
    }
    const over = await person.submit('/account/password', { current: password, password: 'long enough' })
    expect(over.html).toContain('Too many failed attempts')
    expect((await person.open('/account')).status).toBe(200)
  })

  test('400 a code that was given before the password changed by the operator is gone', async () => {
    const application = await register(server())
    const code = await codeFor(server(), application)
    const { id } = server().world.broadcaster
    const password = server().world.users[0]?.password
    await server().control('PUT', `/users/${id}`, { password })
    expect((await redeem(server(), application, code)).body.message).toBe('Invalid authorization code')
  })
})
