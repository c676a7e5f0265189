/**
 * The rules for text (D-11, D-12) hold on pages as in the API: every field of every page is sent odd text. The
 * answer is a page that states what is wrong, never a failure of ours, and nothing shows in the log. The default tier sends
 * a share of the texts to each field, the full tier all of them.
 */
import { beforeAll, expect, test } from 'bun:test'
import { PAGES } from '../../src/site/pages.ts'
import { FIELDS } from '../../src/site/request/fields.ts'
import { authorizeLink, loggedIn, register } from '../support/browser/consent.ts'
import type { Person } from '../support/browser/person.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { LONG_TEXT, ODD_TEXTS, type OddText, oddHeaders, violationsIn } from '../support/server/odd-text.ts'
import { raw } from '../support/server/wire.ts'
import type { TestServer } from '../support/server.ts'

const names = [...Object.keys(FIELDS), '__proto__', 'constructor', 'unheard_of']
export const routes = Object.entries(PAGES).flatMap(([path, methods]) =>
  Object.keys(methods).map(method => ({ method, path: path.replace('{login}', 'a_channel') })),
)

/** What gets a request as far into each page as it goes. */
async function usualFields(server: TestServer, person: Person): Promise<Record<string, string>> {
  const application = await register(server)
  const link = authorizeLink(application.id, { force_verify: 'true' })
  const { forms } = await person.browse(link)
  const device = await server.call({
    method: 'POST',
    path: '/oauth2/device',
    body: { client_id: application.id, scopes: 'chat:read' },
  })
  const asked = Object.fromEntries(new URLSearchParams(link.split('?')[1]))
  const consent = forms.find(form => form.action === '/oauth2/consent')?.fields ?? {}
  return {
    ...asked,
    csrf: consent.csrf ?? '',
    user_id: consent.user_id ?? '',
    request: link.split('?')[1] ?? '',
    decision: 'deny',
    next: '/account',
    login: 'somebody_else',
    password: 'not the password',
    current: 'not the password',
    'device-code': device.body.user_code,
    session_id: crypto.randomUUID(),
  }
}

/** What is not text at all is refused in unknown fields too; the rest is a matter of known ones. */
function isRefused(name: string, { encoded, refused, isText }: OddText): boolean {
  if (!Object.hasOwn(FIELDS, name)) return !isText
  return refused || (/^x+$/.test(encoded) && encoded.length > FIELDS[name as keyof typeof FIELDS])
}

/** A query string or form with these values, and one of them unchanged. */
function encode(usual: Readonly<Record<string, string>>, name: string, encoded: string): string {
  const rest = Object.entries(usual).filter(([each]) => each !== name)
  return `${new URLSearchParams(rest)}&${name}=${encoded}`
}

function send(server: TestServer, person: Person, method: string, path: string, text: string) {
  const url = server.url + path
  const headers = {
    Accept: 'text/html',
    Cookie: person.cookies,
    'X-Request-Id': `odd${path.replaceAll('/', '-')}`,
  }
  if (method === 'GET') return fetch(`${url}?${text}`, { headers, redirect: 'manual' })
  return fetch(url, {
    method,
    headers: { ...headers, 'Content-Type': 'application/x-www-form-urlencoded' },
    body: text,
    redirect: 'manual',
  })
}

// All of it comes from one address, faster than the limit of the OAuth side allows.
const UNLIMITED = { address: 0, client: 0, validation: 0 }

/** One in so many of the texts goes to each field; with 1, all of them. */
export function describeOddFields(oneIn: number): void {
  onEachStore('odd text on pages', { config: { signUp: true, oauthRates: UNLIMITED } }, server => {
    // Logged in before passwords are guessed; one of them to be logged out again.
    let stayer: Person
    let leaver: Person
    beforeAll(async () => {
      stayer = await loggedIn(server())
      leaver = await loggedIn(server())
    })

    for (const { method, path } of routes) {
      test(`400 or better in every field: ${method} ${path}`, async () => {
        const person = path === '/logout' ? leaver : stayer
        const usual = await usualFields(server(), person)
        const before = server().logLines.length
        const texts = method === 'GET' ? ODD_TEXTS : [...ODD_TEXTS, LONG_TEXT]
        for (const [place, name] of names.entries()) {
          for (const odd of texts.filter((_, turn) => (turn + place) % oneIn === 0)) {
            const response = await send(server(), person, method, path, encode(usual, name, odd.encoded))
            const html = await response.text()
            if (isRefused(name, odd))
              expect([name, odd.title, response.status]).toEqual([name, odd.title, 400])
            else expect([name, odd.title, response.status < 500]).toEqual([name, odd.title, true])
            if (response.status === 400) expect(html).toContain('<h1>')
          }
          const twice = encode(usual, name, `one&${name}=two`)
          const response = await send(server(), person, method, path, twice)
          const statuses = Object.hasOwn(FIELDS, name) ? [400] : [200, 302, 400, 401, 403, 404, 429]
          expect([name, statuses.includes(response.status)]).toEqual([name, true])
        }
        expect(violationsIn(server().logLines.slice(before))).toEqual([])
      }, 180_000)

      test(`4xx or better with odd headers: ${method} ${path}`, async () => {
        const before = server().logLines.length
        for (const [header, value] of oddHeaders(oneIn)) {
          const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost', `${header}: ${value}`]
          if (method === 'POST') head.push('Content-Length: 3')
          const answer = await raw(
            server().url,
            `${head.join('\r\n')}\r\n\r\n${method === 'POST' ? 'a=b' : ''}`,
          )
          expect([header, value, (answer?.status ?? 400) < 500]).toEqual([header, value, true])
        }
        expect(violationsIn(server().logLines.slice(before))).toEqual([])
      })
    }
  })
}
