/** Forms from other sites are refused, whatever cookies come along; and the JSON API does not know cookies at all. */
import { expect, test } from 'bun:test'
import { operations } from '../../src/contract/index.ts'
import { PAGES } from '../../src/site/pages.ts'
import { authorizeLink, loggedIn, register } from '../support/browser/consent.ts'
import { Person } from '../support/browser/person.ts'
import { onEachStore } from '../support/server/each-store.ts'

const FORMS = [
  '/login',
  '/logout',
  '/oauth2/consent',
  '/activate',
  '/account/disconnect',
  '/account/end-session',
  '/account/appearance',
  '/account/end-other-sessions',
  '/account/new-password',
  '/account/password',
  '/account/profile',
  '/drops',
  '/follow',
  '/site/token',
  '/studio/{login}/channel',
  '/studio/{login}/editors',
  '/studio/{login}/key',
  '/studio/{login}/markers',
  '/studio/{login}/videos',
  '/console/login',
  '/console/logout',
]

onEachStore('forms from elsewhere', { config: { signUp: true } }, server => {
  test('the list of forms is complete', () => {
    const posted = Object.entries(PAGES).flatMap(([path, methods]) => ('POST' in methods ? [path] : []))
    // Those of the console need the session of an operator (console.test.ts).
    const known = [...FORMS, '/signup', '/console/{page}']
    expect(posted.toSorted()).toEqual(known.toSorted())
  })

  for (const pattern of [...FORMS, '/signup']) {
    test(`403 ${pattern}`, async () => {
      const person = await loggedIn(server())
      const path = pattern.replace('{login}', person.login ?? '')
      const application = await register(server())
      const { forms } = await person.browse(authorizeLink(application.id))
      const csrf = forms[0]?.fields.csrf ?? ''
      const fields = { decision: 'allow', request: authorizeLink(application.id).split('?')[1] ?? '' }
      const own = server().url
      const cases: [string, Record<string, string>, Record<string, string>][] = [
        ['without the proof', fields, { Origin: own }],
        ['with a made-up proof', { ...fields, csrf: 'x'.repeat(43) }, { Origin: own }],
        ['from another site', { ...fields, csrf }, { Origin: 'https://evil.example' }],
        ['from a sandboxed frame', { ...fields, csrf }, { Origin: 'null' }],
        ['from another port', { ...fields, csrf }, { Origin: 'http://127.0.0.1:1' }],
        ['cross-site', { ...fields, csrf }, { 'Sec-Fetch-Site': 'cross-site' }],
        ['from a subdomain', { ...fields, csrf }, { 'Sec-Fetch-Site': 'same-site' }],
        ['as JSON text', { ...fields, csrf }, { 'Content-Type': 'text/plain' }],
      ]
      for (const [title, values, headers] of cases) {
        const seen = await person.postRaw(path, values, headers)
        expect([title, seen.status, seen.location]).toEqual([title, 403, null])
      }
      const large = { ...fields, csrf, more: 'x'.repeat(70_000) }
      expect((await person.postRaw(path, large, { Origin: own })).status).toBe(413)
      expect((await person.open('/account')).status).toBe(200)
      expect((await person.browse('/account')).html).toContain('No application is connected')
    })
  }

  test("403 another browser's proof does not fit", async () => {
    const thief = new Person(server())
    const { forms } = await thief.browse('/login')
    const person = await loggedIn(server())
    const seen = await person.postRaw(
      '/logout',
      { csrf: forms[0]?.fields.csrf ?? '' },
      { Origin: server().url },
    )
    expect(seen.status).toBe(403)
  })

  test('the JSON API ignores cookies', async () => {
    const person = await loggedIn(server())
    const { world } = server()
    const params: Record<string, string> = { user_id: world.broadcaster.id, client_id: world.client.id }
    const statuses = new Set<number>()
    for (const operation of operations) {
      if (operation.access.kind !== 'token' && operation.access.kind !== 'operator') continue
      const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name) => params[name] ?? '1')
      const query = { broadcaster_id: world.broadcaster.id, user_id: world.broadcaster.id }
      const answer = await server().call({
        method: operation.method,
        path,
        query,
        headers: { Cookie: person.cookies },
      })
      statuses.add(answer.status)
    }
    expect([...statuses]).toEqual([401])
  })
})
