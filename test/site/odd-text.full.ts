/**
 * The rules for text (D-11, D-12) hold on pages as in the API: every field of every page is sent odd text. The
 * answer is a page that states what is wrong, never a failure of ours, and nothing shows in the log.
 */
import { expect, spyOn, test } from 'bun:test'
import { FIELDS } from '../../src/site/request/fields.ts'
import { Unavailable } from '../../src/store/errors.ts'
import { allow, authorizeLink, CALLBACK, loggedIn, register } from '../support/browser/consent.ts'
import { carried, Person } from '../support/browser/person.ts'
import { usingCheapPasswords } from '../support/server/cheap-passwords.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { violationsIn } from '../support/server/odd-text.ts'
import { Wire } from '../support/server/wire.ts'
import { describeOddFields, routes } from './odd-fields.ts'

usingCheapPasswords()
describeOddFields(16)

onEachStore('a form that breaks off', {}, server => {
  for (const { method, path } of routes) {
    test(`a sender that goes away in the middle is no failure of ours: ${method} ${path}`, async () => {
      const before = server().logLines.length
      const id = `gone${path.replaceAll(/\W/g, '-')}-${method}`
      for (const [framing, part] of [
        ['Content-Length: 500', 'csrf=abc'],
        ['Transfer-Encoding: chunked', '8\r\ncsrf=abc\r\n'],
      ] as const) {
        const wire = await Wire.open(server().url)
        const type = 'Content-Type: application/x-www-form-urlencoded'
        await wire.send(
          `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${type}\r\nX-Request-Id: ${id}\r\n${framing}\r\n\r\n${part}`,
        )
        wire.close()
      }
      const isTold = () =>
        server()
          .logLines.slice(before)
          .filter(line => line.includes(`"${id}"`)).length >= 2
      while (!isTold()) await Bun.sleep(5)
      expect(violationsIn(server().logLines.slice(before))).toEqual([])
    })
  }
})

onEachStore('what pages show of odd text', { config: { signUp: true } }, server => {
  test('every field that a page shows is in the list of fields', async () => {
    const person = await loggedIn(server())
    const application = await register(server())
    const device = await server().call({
      method: 'POST',
      path: '/oauth2/device',
      body: { client_id: application.id, scopes: 'chat:read' },
    })
    const stranger = new Person(server())
    const seen = [
      await stranger.open('/login'),
      await stranger.open('/signup'),
      await person.open(authorizeLink(application.id)),
      await person.open('/activate'),
      await person.open(`/activate?device-code=${device.body.user_code}`),
    ]
    await allow(person, authorizeLink(application.id))
    seen.push(await person.open('/account'))
    const shown = new Set<string>()
    for (const { html } of seen) {
      expect(html).toContain('<form')
      for (const [, name = ''] of html.matchAll(/<(?:input|button|select|textarea)[^>]* name="([^"]*)"/g))
        shown.add(name)
    }
    expect(shown.size).toBeGreaterThan(10)
    expect([...shown].filter(name => !Object.hasOwn(FIELDS, name))).toEqual([])
  })

  test('302 CR and LF in the question of a consent form do not reach a header', async () => {
    const person = await loggedIn(server())
    const application = await register(server())
    await person.browse(authorizeLink(application.id))
    const request = `${authorizeLink(application.id).split('?')[1]}&more=a\r\nSet-Cookie: x=y`
    const seen = await person.post('/oauth2/consent', { request, user_id: 'another user' })
    expect(seen.status).toBe(302)
    expect(seen.location).toEndWith('&more=a%0D%0ASet-Cookie:%20x=y')
    expect(seen.headers.getSetCookie()).toEqual([])
  })

  test('302 to a registered redirect URI that a header cannot carry as it is', async () => {
    for (const [redirect_uri, written] of [
      ['https://example.org/zur\u00fcck', 'https://example.org/zur%C3%BCck'],
      ['com.example.app:/\u{1f600}', 'com.example.app:/%F0%9F%98%80'],
      ['https://example.org/a\u0001b', 'https://example.org/a%01b'],
      ['http://[', 'http://['],
    ] as const) {
      const application = await register(server(), { redirect_uris: [redirect_uri] })
      const person = await loggedIn(server())
      const seen = await allow(person, authorizeLink(application.id, { redirect_uri }))
      expect([redirect_uri, seen.status]).toEqual([redirect_uri, 302])
      expect(seen.location).toStartWith(`${written}?`)
      expect(seen.location).toContain('code=')
    }
  })

  test('302 a state of any text comes back as it was', async () => {
    const application = await register(server())
    const person = await loggedIn(server())
    for (const state of ['a\r\nb', '\u{1f600}', '__proto__', 'x'.repeat(4000), '"><script>']) {
      const { location } = await allow(person, authorizeLink(application.id, { state }))
      expect(carried(location).get('state')).toBe(state)
      expect(location).toStartWith(`${CALLBACK}?`)
    }
  })

  test('200 scopes and notices that are names of built-in properties are text', async () => {
    const person = await loggedIn(server())
    const application = await register(server())
    const { status, html } = await person.browse(
      authorizeLink(application.id, { scope: 'constructor __proto__ to_string' }),
    )
    expect(status).toBe(200)
    for (const scope of ['constructor', '__proto__']) expect(html).toContain(`${scope}: has no effect`)
    for (const done of ['constructor', '__proto__', 'toString']) {
      const account = await person.open(`/account?done=${done}`)
      expect([account.status, account.html.includes('role="status"')]).toEqual([200, false])
    }
  })

  test('413 a form that is too large, announced or in chunks', async () => {
    const body = `csrf=${'x'.repeat(64 * 1024)}`
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const announced = await fetch(`${server().url}/login`, { method: 'POST', headers: type, body })
    const chunked = await fetch(`${server().url}/login`, {
      method: 'POST',
      headers: type,
      body: new Blob([body]).stream(),
    })
    for (const answer of [announced, chunked]) {
      expect(answer.status).toBe(413)
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(await answer.text()).toContain('The body must be at most 65536 bytes')
    }
  })
})

onEachStore('a page that fails', {}, server => {
  test('503 and a warning while the store cannot be reached', async () => {
    const asked = spyOn(server().strand.services.store.accounts, 'application').mockRejectedValueOnce(
      new Unavailable('it is away'),
    )
    const before = server().logLines.length
    const response = await fetch(`${server().url}/oauth2/authorize?client_id=x`)
    asked.mockRestore()
    expect([response.status, response.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8'])
    const [line = ''] = violationsIn(server().logLines.slice(before))
    expect(JSON.parse(line)).toMatchObject({ level: 'warn', operation: 'page', reason: 'it is away' })
  })

  test('500 and a line with the stack, found by the request id, for a mistake of ours', async () => {
    const asked = spyOn(server().strand.services.store.accounts, 'application').mockRejectedValueOnce(
      new TypeError('undefined is not a function'),
    )
    const before = server().logLines.length
    const response = await fetch(`${server().url}/oauth2/authorize?client_id=x`, {
      headers: { 'X-Request-Id': 'the-one' },
    })
    asked.mockRestore()
    expect(response.status).toBe(500)
    const html = await response.text()
    expect(html).toContain('the-one')
    expect(html).not.toContain('undefined is not')
    const [line = ''] = violationsIn(server().logLines.slice(before))
    expect(JSON.parse(line)).toMatchObject({ level: 'error', request_id: 'the-one', operation: 'page' })
    expect(JSON.parse(line).error).toMatch(/TypeError: undefined is not a function\n\s+at /)
  })
})
