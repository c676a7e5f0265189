/** The operator console: who gets in, what its pages show, and every action that they offer. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { OperatorSessions } from '../../src/auth/operator-sessions.ts'
import { tables } from '../../src/contract/admin/index.ts'
import type { Operation } from '../../src/contract/operation.ts'
import { OUTCOME_MEANINGS } from '../../src/contract/resources/fault.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { MetricsHistory } from '../../src/site/console/history.ts'
import { quantile } from '../../src/site/console/quantile.ts'
import { Person, type Seen } from '../support/browser/person.ts'
import { usingCheapPasswords } from '../support/server/cheap-passwords.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

usingCheapPasswords()

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const COOKIE = '__Host-strand-console'
const SEPARATE = { operatorListen: { host: '127.0.0.1', port: 0 } }

const operatorUrl = ({ strand }: TestServer) => strand.controlUrl.replace(/\/control$/, '')

/** A browser at the operator listener. */
const atDesk = (server: TestServer) => new Person({ ...server, url: operatorUrl(server) })

async function loggedIn(server: TestServer, token = server.world.operator_token): Promise<Person> {
  const operator = atDesk(server)
  await operator.open('/console')
  const seen = await operator.post('/console/login', { password: token })
  expect([seen.status, seen.location]).toEqual([302, '/console'])
  return operator
}

/** A control call that must succeed. */
// biome-ignore lint/suspicious/noExplicitAny: a body is whatever the server sent
async function control(server: TestServer, method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(server.strand.controlUrl + path, {
    method,
    headers: { Authorization: `Bearer ${server.world.operator_token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  server.canaries.note(text)
  if (!response.ok) throw new Error(`${method} ${path}: ${text}`)
  return text === '' ? undefined : JSON.parse(text).data
}

/** The report on the last action. */
const noticeIn = ({ html }: Seen) => /<p class="notice [a-z]+"[^>]*>([^<]*)/.exec(html)?.[1]

const isLogIn = ({ html }: Seen) => html.includes('action="/console/login"') && !html.includes('class="rail"')

/** The proof that the forms of the last page carry. */
const proofIn = ({ seen }: Person) =>
  seen?.forms.find(({ action }) => action === '/console/logout')?.fields.proof ?? ''

onEachStore('who gets into the console', { config: SEPARATE }, server => {
  test('200 a log-in page without a cookie, whatever the address, and 401 for scripts', async () => {
    const stranger = atDesk(server())
    for (const path of ['/console', '/console/users', '/console/demo', '/console/none/at/all'])
      expect([path, isLogIn(await stranger.open(path))]).toEqual([path, true])
    expect((await stranger.open('/console/history')).status).toBe(401)
    expect((await stranger.postRaw('/console/games/new', { name: 'Sneaky' }, {})).status).toBe(403)
    expect((await stranger.postRaw('/console/campaigns/new', { name: 'Sneaky' }, {})).status).toBe(403)
    expect((await control(server(), 'GET', '/games?name=Sneaky')).length).toBe(0)
  })

  test('401 a token that is none, and no cookie', async () => {
    for (const password of ['wrong', server().world.client.app_token, `${server().world.operator_token}x`]) {
      const stranger = atDesk(server())
      await stranger.open('/console')
      const seen = await stranger.post('/console/login', { password })
      expect([seen.status, stranger.cookie(COOKIE)]).toEqual([401, undefined])
      expect(seen.html).toContain('not a valid operator token')
      expect(seen.html).not.toContain(password)
      await loggedIn(server())
    }
  })

  test('the cookie is not the token, and no page has the token', async () => {
    const operator = await loggedIn(server())
    const cookie = operator.cookie(COOKIE) ?? ''
    const token = server().world.operator_token
    expect(cookie).toMatch(/^[0-9a-f]{150,256}$/)
    expect(Buffer.from(cookie, 'hex').toString('latin1')).not.toContain(token.slice(5, 20))
    expect((await operator.open('/console')).html).not.toContain(token)
    expect(operator.seen?.headers.get('cache-control')).toBe('no-store')
    expect(operator.seen?.headers.get('content-security-policy')).not.toContain('unsafe')
  })

  test('200 the log-in page for a forged or altered cookie', async () => {
    const operator = await loggedIn(server())
    const cookie = operator.cookie(COOKIE) ?? ''
    const forged = ['0'.repeat(200), cookie.slice(2), `${cookie}00`, cookie.toUpperCase(), 'x']
    for (let at = 0; at < cookie.length; at += 13)
      forged.push(cookie.slice(0, at) + (cookie[at] === '0' ? '1' : '0') + cookie.slice(at + 1))
    for (const value of forged) {
      const stranger = atDesk(server())
      stranger.headers = { Cookie: `${COOKIE}=${value}` }
      expect([value, isLogIn(await stranger.open('/console/users'))]).toEqual([value, true])
    }
  })

  test('404 on the public listener with the cookie, and the control API ignores it', async () => {
    const operator = await loggedIn(server())
    for (const path of ['/console', '/console/users', '/console/login'])
      for (const method of ['GET', 'POST']) {
        const headers = { Cookie: operator.cookies, Accept: 'text/html' }
        const { status } = await fetch(server().url + path, { method, headers })
        expect([path, method, status]).toEqual([path, method, 404])
      }
    const direct = await fetch(`${server().strand.controlUrl}/users`, {
      headers: { Cookie: operator.cookies },
    })
    expect(direct.status).toBe(401)
  })

  test('403 forms from elsewhere change nothing', async () => {
    const operator = await loggedIn(server())
    await operator.open('/console/games/new')
    const proof = proofIn(operator)
    const other = await loggedIn(server())
    await other.open('/console')
    const own = operatorUrl(server())
    const cases: [string, Record<string, string>, Record<string, string>][] = [
      ['without the proof', {}, { Origin: own }],
      ['with a made-up proof', { proof: 'x'.repeat(43) }, { Origin: own }],
      ['with the proof of another session', { proof: proofIn(other) }, { Origin: own }],
      ['from another site', { proof }, { Origin: 'https://evil.example' }],
      ['from a sandboxed frame', { proof }, { Origin: 'null' }],
      ['cross-site', { proof }, { 'Sec-Fetch-Site': 'cross-site' }],
      ['from the public listener', { proof }, { 'Sec-Fetch-Site': 'same-site' }],
      ['as text', { proof }, { 'Content-Type': 'text/plain' }],
    ]
    for (const [title, fields, headers] of cases)
      for (const path of [
        '/console/games/new',
        '/console/logout',
        '/console/audit/verify',
        '/console/demo/reset',
      ]) {
        const seen = await operator.postRaw(path, { name: 'Forged', ...fields }, headers)
        expect([title, path, seen.status, seen.location]).toEqual([title, path, 403, null])
      }
    expect((await control(server(), 'GET', '/games?name=Forged')).length).toBe(0)
    expect(isLogIn(await operator.open('/console'))).toBe(false)
    const rightly = await operator.postRaw('/console/games/new', { name: 'Rightly', proof }, { Origin: own })
    expect(rightly.status).toBe(302)
  })

  test('a named operator appears by name in the audit log, and is out when the token is deleted', async () => {
    const [{ token }] = await control(server(), 'POST', '/operators', { name: 'night-shift' })
    const operator = await loggedIn(server(), token)
    expect((await operator.open('/console')).html).toContain('operator/night-shift')
    await operator.open('/console/organizations/new')
    await operator.submit('/console/organizations/new', { name: 'Night Works' })
    const [entry] = await control(server(), 'GET', '/audit?operation=CreateOrganization')
    expect([entry.actor, entry.after.name]).toEqual(['operator/night-shift', 'Night Works'])
    const proof = proofIn(operator)
    await control(server(), 'DELETE', '/operators/night-shift')
    expect(isLogIn(await operator.open('/console'))).toBe(true)
    const late = await operator.postRaw('/console/games/new', { name: 'Late', proof }, {})
    expect(late.status).toBe(403)
    // Another token of the same name is another operator.
    await control(server(), 'POST', '/operators', { name: 'night-shift' })
    expect(isLogIn(await operator.open('/console'))).toBe(true)
  })

  test('log-out ends the session, also for a copy of the cookie', async () => {
    const operator = await loggedIn(server())
    const other = await loggedIn(server())
    const copy = atDesk(server())
    copy.headers = { Cookie: operator.cookies }
    expect(isLogIn(await copy.open('/console'))).toBe(false)
    await operator.open('/console')
    const left = await operator.submit('/console/logout')
    expect(isLogIn(left)).toBe(true)
    expect(left.html).toContain('You are logged out.')
    expect(operator.cookie(COOKIE)).toBeUndefined()
    expect(isLogIn(await copy.open('/console'))).toBe(true)
    expect(isLogIn(await other.open('/console'))).toBe(false)
  })

  test('the log-in leads to the page that was asked for, and nowhere else', async () => {
    for (const [next, place] of [
      ['/console/users?login=x', '/console/users?login=x'],
      ['//evil.example', '/console'],
      ['/account', '/console'],
      ['/consoles', '/console'],
      ['https://evil.example', '/console'],
    ] as const) {
      const operator = atDesk(server())
      await operator.open('/console')
      const seen = await operator.post('/console/login', { next, password: server().world.operator_token })
      expect([next, seen.location]).toEqual([next, place])
    }
  })

  test('429 after too many wrong tokens, while the right one is accepted', async () => {
    const operator = atDesk(server())
    await operator.open('/console')
    await operator.post('/console/login', { password: server().world.operator_token })
    const stranger = atDesk(server())
    await stranger.open('/console')
    const statuses: number[] = []
    for (let attempt = 0; attempt < 6; attempt++)
      statuses.push((await stranger.post('/console/login', { password: 'wrong' })).status)
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
    expect(stranger.seen?.headers.get('retry-after')).toBe('60')
    await stranger.open('/console')
    const right = await stranger.post('/console/login', { password: server().world.operator_token })
    expect([right.status, right.location]).toEqual([302, '/console'])
  })
})

test('a session ends after 12 hours', async () => {
  let now = 1_800_000_000_000
  const sessions = new OperatorSessions({
    ring: new KeyRing([{ id: 'a', bytes: new Uint8Array(32) }]),
    store: {
      operators: { withToken: async () => undefined },
      facts: { find: async () => undefined },
    } as never,
    operatorToken: 'the-initial-token',
    now: () => now,
  })
  const cookie = (await sessions.start('the-initial-token')) ?? ''
  now += 12 * 3600 * 1000 - 1
  expect(await sessions.find(cookie)).toMatchObject({ operator: { kind: 'operator', name: null } })
  now += 1
  expect(await sessions.find(cookie)).toBeUndefined()
})

onEachStore('the console', {}, server => {
  let operator: Person
  beforeAll(async () => {
    operator = await loggedIn(server())
  })

  /** Opens the page of an action and sends its form. */
  async function act(path: string, fields: Record<string, string> = {}): Promise<Seen> {
    const [address = ''] = path.split('?')
    expect([path, (await operator.open(path)).status]).toEqual([path, 200])
    const seen = await operator.submit(address, fields)
    expect([path, seen.status, /class="notice bad"[^<]*<?/.exec(seen.html)?.[0]]).toEqual([
      path,
      200,
      undefined,
    ])
    return seen
  }

  const read = (path: string) => control(server(), 'GET', path)

  test('404 on a shared listener for what came through a proxy or with a public name', async () => {
    for (const headers of [{ 'X-Forwarded-For': '203.0.113.9' }, { Host: 'stream.example' }]) {
      const seen = await fetch(`${server().url}/console`, { headers: { ...headers, Accept: 'text/html' } })
      expect(seen.status).toBe(404)
    }
  })

  test('200 every page, with a row and its page for each resource that has rows', async () => {
    for (const { path, columns, list, get, actions = [], create } of tables) {
      const seen = await operator.open(`/console/${path}`)
      expect([path, seen.status]).toEqual([path, 200])
      // The columns are fields of the rows.
      const fields = Object.keys(rowSchemaOf(list))
      expect([path, columns.filter(column => !fields.includes(column))]).toEqual([path, []])
      if (create) expect((await operator.open(`/console/${path}/${create.form.path}`)).status).toBe(200)
      const link = new RegExp(`class="row-link" href="(/console/${path}/[^"?]+)"`).exec(seen.html)?.[1]
      if (get === undefined || link === undefined) continue
      expect([link, (await operator.open(link)).status]).toEqual([link, 200])
      for (const { form } of actions.filter(each => !each.form.hidden))
        expect([form.path, (await operator.open(`${link}/${form.path}`)).status]).toEqual([form.path, 200])
    }
    for (const path of ['', '/doctor', '/demo', '/search', '/search?q=a'])
      expect([path, (await operator.open(`/console${path}`)).status]).toEqual([path, 200])
  })

  test('400 and 404 for odd addresses, never 5xx', async () => {
    for (const [path, status] of [
      ['/console/none', 404],
      ['/console/users/1', 404],
      ['/console/users/..%2f1', 404],
      ['/console/users/%00', 404],
      ['/console/users/%ff/edit', 404],
      ['/console/users/1/none', 404],
      ['/console/users/new/', 200],
      ['/console/audit?since=soon', 400],
      ['/console/users?after=nonsense', 400],
      ['/console/entitlements?fulfillment_status=LOST', 400],
      ['/console/users?login=%ff', 400],
      ['/console/search?q=%2e%2e', 200],
      ['/console/search?q=a%2fb%3fc', 200],
      ['/console/streams?__proto__=1&constructor=2', 200],
      ['/console/history?since=x', 200],
      ['/console/demo/none', 404],
    ] as const)
      expect([path, (await operator.open(path)).status]).toEqual([path, status])
  })

  test('names and titles are text, not markup', async () => {
    const name = '<img src=x onerror=alert(1)>"\'&'
    await control(server(), 'POST', '/games', { name })
    const { html } = await operator.open(`/console/games?name=${encodeURIComponent(name)}`)
    expect(html).toContain('&lt;img src=x onerror=alert(1)>&quot;')
    expect(html).not.toContain('<img')
  })

  test('search finds by login, name, ID and beginning, and opens the only match', async () => {
    const { broadcaster, organization, benefit } = server().world
    expect((await operator.browse(`/console/search?q=${broadcaster.login}`)).html).toContain(broadcaster.id)
    expect((await operator.browse(`/console/search?q=${broadcaster.login.slice(0, 3)}`)).html).toContain(
      broadcaster.id,
    )
    expect((await operator.open(`/console/search?q=${organization.id}`)).location).toBe(
      `/console/organizations/${organization.id}`,
    )
    expect((await operator.open(`/console/search?q=${benefit.id}`)).location).toBe(
      `/console/benefits/${benefit.id}`,
    )
    expect((await operator.open('/console/search?q=surely-not-there')).html).toContain('Nothing is known by')
  })

  test('filters take names, and pages continue', async () => {
    const { broadcaster, viewer, benefit, game } = server().world
    const [user] = await read(`/users?login=${broadcaster.login}`)
    const grants = Array.from({ length: 60 }, () => ({
      user_id: viewer.id,
      benefit_id: benefit.id,
      game_id: game.id,
    }))
    await control(server(), 'POST', '/entitlements', { grants })
    const first = await operator.open(`/console/entitlements?user_id=${viewer.id}&fulfillment_status=CLAIMED`)
    expect(first.html.match(/data-key=/g)?.length).toBe(50)
    const next = /rel="next" href="([^"]+)"/.exec(first.html)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const second = await operator.open(next)
    expect(second.status).toBe(200)
    expect(second.html).not.toContain(/data-key="([^"]+)"/.exec(first.html)?.[1] ?? '?')
    const mine = await operator.open(`/console/videos?user_id=${broadcaster.login}`)
    expect(mine.html).toContain(user.display_name)
    expect(mine.html.match(/data-key=/g)?.length ?? 0).toBeGreaterThan(0)
    const live = await operator.open(`/console/streams?user_login=${broadcaster.login}`)
    expect(live.html.match(/data-key=/g)?.length).toBe(1)
  })

  test('organizations, members, users, channels and editors', async () => {
    const made = await act('/console/organizations/new', { name: 'Kelp Works' })
    expect(made.html).toContain('The organization was created.')
    const [organization] = await read('/organizations?name=Kelp%20Works')
    const at = `/console/organizations/${organization.id}`
    await act(`${at}/edit`, { name: 'Kelp & Sons' })
    expect((await read(`/organizations/${organization.id}`))[0].name).toBe('Kelp & Sons')
    await act('/console/users/new', {
      login: 'calm_kelp',
      display_name: 'Calm_Kelp',
      password: 'seaweed soup',
    })
    const [user] = await read('/users?login=calm_kelp')
    await act(`${at}/add-member`, { user_id: 'calm_kelp' })
    expect((await operator.open(at)).html).toContain('Calm_Kelp')
    await act(`${at}/remove-member?user_id=${user.id}`)
    expect((await read(`/organizations/${organization.id}/members`)).length).toBe(0)
    const mine = `/console/users/${user.id}`
    await act(`${mine}/edit`, { description: 'Below the surface.', email: '', broadcaster_type: 'partner' })
    expect((await read(`/users/${user.id}`))[0]).toMatchObject({
      login: 'calm_kelp',
      description: 'Below the surface.',
      broadcaster_type: 'partner',
    })
    await act(`${mine}/channel`, { title: 'Slow tides', tags: 'Calm\r\nSea', is_mature: 'true' })
    expect((await read(`/channels/${user.id}`))[0]).toMatchObject({
      title: 'Slow tides',
      tags: ['Calm', 'Sea'],
      is_mature: true,
      language: 'en',
    })
    await act(`${mine}/add-editor`, { editor_id: server().world.broadcaster.login })
    expect((await read(`/channels/${user.id}/editors`)).length).toBe(1)
    await act(`${mine}/remove-editor?editor_id=${server().world.broadcaster.id}`)
    expect((await read(`/channels/${user.id}/editors`)).length).toBe(0)
    const rotated = await act(`${mine}/rotate-key`, { grace_seconds: '60' })
    const [{ stream_key }] = await read(`/channels/${user.id}/stream-key`)
    expect(rotated.html).toContain(stream_key)
    expect((await operator.open(mine)).html).not.toContain(stream_key)
    // Nothing is destroyed without the name.
    await operator.open(`${mine}/delete`)
    const refused = await operator.submit(`${mine}/delete`, { confirm: 'something else' })
    expect([refused.status, (await read('/users?login=calm_kelp')).length]).toEqual([400, 1])
    await act(`${mine}/delete`, { confirm: 'Calm_Kelp' })
    expect((await read('/users?login=calm_kelp')).length).toBe(0)
    await act(`${at}/delete`, { confirm: 'Kelp & Sons' })
    expect((await read('/organizations?name=Kelp%20%26%20Sons')).length).toBe(0)
  })

  test('the data of a user is saved as a file, and a deletion reports what is kept', async () => {
    const [user] = await control(server(), 'POST', '/users', { login: 'to_be_exported' })
    const path = `/console/users/${user.id}`
    expect((await operator.open(path)).html).toContain('Export data')
    await operator.open(`${path}/export`)
    const file = await operator.submit(`${path}/export`)
    expect(file.status).toBe(200)
    const lines = file.html
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    expect(lines[0].person).toMatchObject({ id: user.id, login: 'to_be_exported' })
    expect(lines.at(-1).summary.rows).toMatchObject({ users: 1, channels: 1 })
    expect((await read(`/audit?subject=user/${user.id}&first=1`))[0]).toMatchObject({
      operation: 'ExportUser',
    })
    await operator.open(`${path}/delete`)
    const deleted = await operator.submit(`${path}/delete`, { confirm: 'to_be_exported' })
    expect(deleted.status).toBe(200)
    for (const text of ['The user was deleted', 'stream keys', 'removed', 'kept', 'STRAND_KEEP_AUDIT_DAYS'])
      expect(deleted.html).toContain(text)
    expect((await operator.open(path)).status).toBe(404)
  })

  test('an edit changes only what was changed, and reports what the API refuses', async () => {
    const { broadcaster } = server().world
    const [before] = await read(`/channels/${broadcaster.id}`)
    const path = `/console/users/${broadcaster.id}/channel`
    await operator.open(path)
    // Meanwhile someone else changes the title.
    await control(server(), 'PATCH', `/channels/${broadcaster.id}`, { title: 'Meanwhile' })
    await operator.post(path, { title: before.title, delay: '15' })
    expect((await read(`/channels/${broadcaster.id}`))[0]).toMatchObject({ title: 'Meanwhile', delay: 15 })
    await operator.open(path)
    const refused = await operator.submit(path, { delay: '100000', language: 'klingon' })
    expect(refused.status).toBe(400)
    expect(refused.html).toContain('value="klingon"')
    expect(refused.html).toContain('class="notice bad"')
    expect((await read(`/channels/${broadcaster.id}`))[0].delay).toBe(15)
  })

  test('what the API refuses is explained at its field, which has the focus', async () => {
    const { broadcaster } = server().world
    const path = `/console/users/${broadcaster.id}/channel`
    const inputIn = (html: string, name: string) => new RegExp(`<input id="${name}"[^>]*>`).exec(html)?.[0]
    await operator.open(path)
    const delayed = await operator.submit(path, { delay: '100000' })
    const [, sentence = ''] = /<p class="mistake" id="input-delay-mistake">([^<]*)/.exec(delayed.html) ?? []
    expect(sentence).toContain('less than or equal to 900')
    expect(inputIn(delayed.html, 'input-delay')).toMatch(
      / aria-invalid="true".*aria-describedby="input-delay-mistake/,
    )
    expect(inputIn(delayed.html, 'input-delay')).toContain(' autofocus')
    expect(delayed.html.match(/aria-invalid/g)?.length).toBe(1)
    // A question that needs a name is a field as well.
    const [user] = await control(server(), 'POST', '/users', { login: 'to_be_typed' })
    await operator.open(`/console/users/${user.id}/delete`)
    const untyped = await operator.submit(`/console/users/${user.id}/delete`, { confirm: 'another' })
    expect(untyped.html).toContain('<p class="mistake" id="confirm-mistake">Type to_be_typed to confirm.</p>')
    expect(inputIn(untyped.html, 'confirm')).toContain(' aria-invalid="true"')
  })

  test('times are chosen with a picker, in a named time zone, in forms and in filters', async () => {
    const { html } = await operator.open('/console/audit')
    for (const name of ['since', 'until']) {
      const [, label] = new RegExp(`<label for="input-${name}">(.*?)</label>`).exec(html) ?? []
      expect(label).toEndWith(' (UTC)')
      expect(html).toMatch(new RegExp(`<input id="input-${name}"[^>]* type="datetime-local"`))
    }
    await control(server(), 'POST', '/games', { name: 'Timely' })
    const [{ at }] = await read('/audit?first=1')
    const rowsSince = async (since: string) => {
      const page = await operator.open(`/console/audit?since=${encodeURIComponent(since)}`)
      expect([since, page.status]).toEqual([since, 200])
      return page.html
    }
    // As browsers send it: without seconds, and without a zone.
    const before = await rowsSince(at.slice(0, 16))
    expect(before).toContain('CreateGame')
    expect(before).toContain(`value="${at.slice(0, 16)}`)
    const later = new Date(Date.parse(at) + 86_400_000).toISOString()
    expect(await rowsSince(later.slice(0, 19))).toContain('No change matches.')
    // Every field of every form that takes a time is one.
    for (const path of ['/console/users/create', '/console/campaigns/create', '/console/demo'])
      for (const [input] of (await operator.open(path)).html.matchAll(
        /<input id="input-(?:time|[a-z]+_at|timestamp)"[^>]*>/g,
      ))
        expect([path, input]).toEqual([path, expect.stringContaining(' type="datetime-local"')])
  })

  test('the form of faults lists operations by group, and explains each outcome', async () => {
    const { html } = await operator.open('/console/demo')
    const [, select = ''] = /<select id="input-operation"[^>]*>(.*?)<\/select>/s.exec(html) ?? []
    const groups = [...select.matchAll(/<optgroup label="([^"]*)">(.*?)<\/optgroup>/gs)]
    expect(groups.map(([, title]) => title)).toEqual(['Public API', 'OAuth', 'Playback'])
    expect(groups[0]?.[2]).toContain('<option value="GetStreams">')
    expect(groups[2]?.[2]).toContain('<option value="SendHeartbeat">')
    for (const [outcome, meaning] of Object.entries(OUTCOME_MEANINGS)) {
      expect(html).toContain(`aria-describedby="input-outcome-${outcome}"`)
      const [, text = ''] = new RegExp(`id="input-outcome-${outcome}">(.*?)</span></label>`).exec(html) ?? []
      expect([outcome, text.replaceAll(/<[^>]*>/g, '')]).toEqual([outcome, meaning.replaceAll('`', '')])
    }
    // The clock can be set to a time, and what it refuses is explained at the field.
    const [{ now }] = await read('/clock')
    const target = new Date(Date.parse(now) + 3_600_000).toISOString().slice(0, 19)
    await operator.submit('/console/demo/clock', { time: target, advance_seconds: '' })
    expect(Date.parse((await read('/clock'))[0].now)).toBeGreaterThanOrEqual(Date.parse(`${target}Z`))
  })

  test('games, benefits and entitlements with their history', async () => {
    const { client, viewer, broadcaster, organization } = server().world
    await act('/console/games/new', { name: 'Lantern Bay', organization_id: organization.id })
    const [game] = await read('/games?name=Lantern%20Bay')
    await act(`/console/games/${game.id}/edit`, { name: 'Lantern Cove' })
    await act('/console/benefits/new', {
      name: 'Brass lantern',
      organization_id: organization.id,
      game_id: 'Lantern Cove',
    })
    const benefits = await read(`/benefits?game_id=${game.id}`)
    expect(benefits.map((each: { name: string }) => each.name)).toEqual(['Brass lantern'])
    await act(`/console/benefits/${benefits[0].id}/edit`, { name: 'Silver lantern' })
    const granted = await act('/console/entitlements/new', {
      user_ids: `${broadcaster.login}\r\n${viewer.id}`,
      benefit_id: 'Silver lantern',
      game_id: game.id,
    })
    expect(granted.html).toContain('The entitlements were granted.')
    const rows = await read(`/entitlements?game_id=${game.id}`)
    expect(rows.length).toBe(2)
    const answer = await server().call({
      method: 'PATCH',
      path: '/helix/entitlements/drops',
      body: { entitlement_ids: [rows[0].id], fulfillment_status: 'FULFILLED' },
      token: client.app_token,
      headers: { 'Client-Id': client.id },
    })
    expect(answer.body.data[0].status).toBe('SUCCESS')
    const list = await operator.open(`/console/entitlements?game_id=${game.id}`)
    expect(list.html).toContain('Silver lantern')
    expect([...list.html.matchAll(/class="status good">fulfilled/g)].length).toBe(2)
    const one = await operator.open(`/console/entitlements/${rows[0].id}`)
    expect(one.html).toContain(`client/${client.id}`)
    // What is in use is not deleted, and the page reports why.
    await operator.open(`/console/games/${game.id}/delete`)
    expect((await operator.submit(`/console/games/${game.id}/delete`)).status).toBe(409)
    await act('/console/benefits/new', { name: 'Spare', organization_id: organization.id })
    const spare = (await read(`/benefits?organization_id=${organization.id}`)).find(
      (each: { name: string }) => each.name === 'Spare',
    )
    await act(`/console/benefits/${spare.id}/delete`)
    const none = await operator.open('/console/entitlements/new')
    expect(none.status).toBe(200)
    const empty = await operator.submit('/console/entitlements/new', {
      benefit_id: spare.id,
      game_id: game.id,
    })
    expect(empty.status).toBe(400)
  })

  test('campaigns: create with drops and channels by name, edit, publish, explain, add minutes, stop, delete', async () => {
    const { organization, other_organization, broadcaster, client } = server().world
    const [viewer] = await read(`/users/${server().world.viewer.id}`)
    await control(server(), 'POST', '/games', { name: 'Kite Cup', organization_id: organization.id })
    const benefits: Record<string, string> = {}
    for (const name of ['Red kite', 'Blue kite <b>'])
      benefits[name] = (
        await control(server(), 'POST', '/benefits', { name, organization_id: organization.id })
      )[0].id
    // Another organization has a benefit of the same name.
    await control(server(), 'POST', '/benefits', { name: 'Red kite', organization_id: other_organization.id })
    const form = await operator.open('/console/campaigns/new')
    const fields = form.forms.find(({ action }) => action === '/console/campaigns/new')?.fields ?? {}
    const id = fields.campaign_id ?? ''
    expect([id, fields['drops.0.id'], fields['drops.2.id']]).toEqual(
      Array(3).fill(expect.stringMatching(UUID)),
    )
    const values = {
      name: 'Kite <i>week</i>',
      organization_id: organization.name,
      game_id: 'Kite Cup',
      starts_at: '2027-01-01T12:00',
      ends_at: '2027-01-08T12:00:30',
      channels: 'listed',
      channel_ids: `${broadcaster.login}\r\n${viewer.login}`,
      link_client_id: client.id,
      link_url: 'https://reef.example/link',
      'drops.0.name': 'Half an hour',
      'drops.0.required_minutes': '30',
      'drops.0.benefit_ids': 'Red kite\r\nBlue kite <b>',
    }
    // What is refused is shown again, with the reason, and makes nothing.
    const refused = await operator.submit('/console/campaigns/new', {
      ...values,
      'drops.0.required_minutes': '0',
    })
    expect([refused.status, refused.html.includes('drops.0.required_minutes')]).toEqual([400, true])
    expect(refused.html).toContain('value="Kite &lt;i>week&lt;/i>"')
    expect(refused.html).toMatch(/Red kite\r?\nBlue kite &lt;b>/)
    expect((await read(`/campaigns?state=draft`)).filter((each: { id: string }) => each.id === id)).toEqual(
      [],
    )
    const created = await operator.submit('/console/campaigns/new', values)
    expect(noticeIn(created)).toBe('The campaign was saved.')
    expect(created.html).not.toMatch(/<i>week|kite <b>/)
    const at = `/console/campaigns/${id}`
    const campaign = async () => (await read(`/campaigns/${id}`))[0]
    expect(await campaign()).toMatchObject({
      name: 'Kite <i>week</i>',
      state: 'draft',
      starts_at: '2027-01-01T12:00:00.000Z',
      ends_at: '2027-01-08T12:00:30.000Z',
      channel_ids: [broadcaster.id, viewer.id].sort(),
      drops: [
        {
          id: fields['drops.0.id'],
          name: 'Half an hour',
          required_minutes: 30,
          benefit_ids: [benefits['Red kite'], benefits['Blue kite <b>']],
        },
      ],
    })
    // An edit starts with names, and changes only what was changed.
    const edit = await operator.open(`${at}/edit`)
    expect(edit.html).toContain(
      `>${[broadcaster, viewer]
        .toSorted((a, b) => (a.id < b.id ? -1 : 1))
        .map(({ login }) => login)
        .join('\n')}</textarea>`,
    )
    for (const name of [organization.name, 'Kite Cup']) expect(edit.html).toContain(`value="${name}"`)
    expect(edit.html).toContain('type="datetime-local" value="2027-01-01T12:00:00"')
    const kept = {
      'drops.0.name': 'Half an hour',
      'drops.0.required_minutes': '30',
      'drops.0.benefit_ids': 'Red kite\r\nBlue kite <b>',
    }
    await control(server(), 'PUT', `/campaigns/${id}`, { auto_claim: true })
    await operator.submit(`${at}/edit`, { ...kept, name: 'Kite week' })
    expect(await campaign()).toMatchObject({
      name: 'Kite week',
      auto_claim: true,
      drops: [{ name: 'Half an hour' }],
    })
    const second = {
      'drops.1.name': 'An hour',
      'drops.1.required_minutes': '60',
      'drops.1.benefit_ids': 'Red kite',
    }
    await act(`${at}/edit`, { ...kept, ...second })
    expect(
      (await campaign()).drops.map((each: { required_minutes: number }) => each.required_minutes),
    ).toEqual([30, 60])
    await act(`${at}/edit`, {
      'drops.0.name': '',
      'drops.0.required_minutes': '',
      'drops.0.benefit_ids': '',
      ...second,
    })
    // What the form started with may be anything.
    await operator.open(`${at}/edit`)
    const odd = await operator.submit(`${at}/edit`, {
      ...second,
      'was.drops': '{',
      'drops.1.required_minutes': 'x',
    })
    expect(odd.status).toBe(400)
    expect((await campaign()).drops).toMatchObject([{ name: 'An hour', benefit_ids: [benefits['Red kite']] }])
    // What is published does not become harder.
    expect((await act(`${at}/publish`)).html).toContain('The campaign is published.')
    await operator.open(`${at}/edit`)
    const harder = await operator.submit(`${at}/edit`, {
      ...second,
      'drops.0.name': 'An hour',
      'drops.0.required_minutes': '90',
      'drops.0.benefit_ids': 'Red kite',
      'drops.1.name': '',
      'drops.1.required_minutes': '',
      'drops.1.benefit_ids': '',
    })
    expect([harder.status, harder.html.includes('cannot become more')]).toEqual([409, true])
    await act(`${at}/add-minutes`, { user_id: viewer.login, add: '45' })
    await act(`${at}/add-minutes`, { user_id: broadcaster.login, add: '60' })
    // Explain asks by a link, so it can be passed on.
    const explained = await operator.open(
      `${at}/explain?user_id=${viewer.login}&channel_id=${broadcaster.login}`,
    )
    expect(explained.status).toBe(200)
    const rules = [
      ...explained.html.matchAll(/<tr data-key="([a-z_]+)">.*?class="status (good|bad)">(yes|no)</gs),
    ]
    expect(rules.length).toBe(12)
    expect(rules.map(([, rule]) => rule)).toContain('minutes_reached')
    expect(Object.fromEntries(rules.map(([, rule, , holds]) => [rule, holds]))).toMatchObject({
      session_live: 'no',
      channel_admitted: 'yes',
      minutes_reached: 'no',
    })
    expect(explained.html).toContain('45 minutes, the first drop takes 60')
    expect((await operator.open(`${at}/explain`)).html).not.toContain('<tr')
    const unknown = await operator.open(`${at}/explain?user_id=1&channel_id=${broadcaster.login}`)
    expect([unknown.status, unknown.html.includes('class="notice bad"')]).toEqual([404, true])
    expect((await operator.open(`${at}/explain?user_id=no_one&channel_id=x`)).status).toBe(400)
    await act(`${at}/stop`)
    expect((await campaign()).state).toBe('stopped')
    await operator.open(`${at}/delete`)
    expect((await operator.submit(`${at}/delete`)).status).toBe(409)
    expect((await operator.open('/console/campaigns?state=stopped')).html).toContain('Kite week')
    expect((await operator.open('/console/campaigns?state=draft')).html).not.toContain('Kite week')
  })

  test('the page of a campaign has its funnel', async () => {
    const { organization, broadcaster, viewer } = server().world
    const [game] = await control(server(), 'POST', '/games', {
      name: 'Funnel',
      organization_id: organization.id,
    })
    const [benefit] = await control(server(), 'POST', '/benefits', {
      name: 'Kite',
      organization_id: organization.id,
    })
    const id = crypto.randomUUID()
    await control(server(), 'PUT', `/campaigns/${id}`, {
      name: 'Funnel',
      organization_id: organization.id,
      game_id: game.id,
      starts_at: '2027-01-01T12:00:00Z',
      ends_at: '2027-01-08T12:00:00Z',
      drops: [{ id: crypto.randomUUID(), name: 'An hour', required_minutes: 60, benefit_ids: [benefit.id] }],
    })
    await control(server(), 'POST', `/campaigns/${id}/publish`)
    for (const [user_id, add] of [
      [viewer.id, 45],
      [broadcaster.id, 60],
    ])
      await control(server(), 'POST', `/campaigns/${id}/viewers/${user_id}/minutes`, { add })
    const page = await operator.open(`/console/campaigns/${id}`)
    const text = page.html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
    expect(text).toMatch(/Viewers 2 Minutes 105 Linked [0-9]+ Fulfilled 0/)
    expect(text).toMatch(/An hour 60 1 50% 0 0%/)
    expect(page.html).toContain(`href="/console/benefits/${benefit.id}"`)
    expect(page.html).not.toContain('[object')
  })

  test('a campaign with very many channels is edited without them', async () => {
    const { organization, game } = server().world
    const channel_ids: string[] = []
    for (let count = 0; count < 201; count++)
      channel_ids.push(
        (await control(server(), 'POST', '/users', { login: `many_${count}_${Date.now() % 1e6}` }))[0].id,
      )
    const id = crypto.randomUUID()
    const times = { starts_at: '2027-01-01T12:00:00Z', ends_at: '2027-01-08T12:00:00Z' }
    const body = { name: 'Many', organization_id: organization.id, game_id: game.id, ...times }
    await control(server(), 'PUT', `/campaigns/${id}`, { ...body, channels: 'listed', channel_ids })
    expect((await operator.open(`/console/campaigns/${id}`)).html).toContain('and 191 more')
    expect((await operator.open(`/console/campaigns/${id}/edit`)).html).toContain(
      '201 entries, too many for a form',
    )
    await operator.submit(`/console/campaigns/${id}/edit`, { name: 'Very many' })
    const [{ name, channel_ids: after }] = await read(`/campaigns/${id}`)
    expect([name, after.length]).toEqual(['Very many', 201])
    await act(`/console/campaigns/${id}/delete`)
    expect((await operator.open(`/console/campaigns/${id}`)).status).toBe(404)
  })

  test('streams: end and disconnect', async () => {
    const [stream] = await read('/streams')
    const at = `/console/streams/${stream.user_id}`
    const asked = await operator.open(`${at}/end`)
    expect(asked.html).toContain(stream.user_name)
    expect((await read(`/channels/${stream.user_id}/stream`)).length).toBe(1)
    const none = await operator.open(`${at}/disconnect`)
    expect(none.status).toBe(200)
    expect((await operator.submit(`${at}/disconnect`)).status).toBeGreaterThanOrEqual(400)
    const ended = await act(`${at}/end`)
    expect(ended.html).toContain('The stream has ended.')
    expect((await read('/streams')).some((each: { id: string }) => each.id === stream.id)).toBe(false)
    expect((await operator.open(`${at}/end`)).status).toBe(404)
  })

  test('clients, tokens, media servers and operators: secrets are shown once', async () => {
    const made = await act('/console/clients/new', {
      name: 'Overlay',
      redirect_uris: 'http://localhost:3000/cb',
    })
    const secret = /value="(ssec_\w+)"/.exec(made.html)?.[1] ?? ''
    server().canaries.add(secret)
    expect(made.html).toContain('not shown again')
    expect(made.headers.get('cache-control')).toBe('no-store')
    const id = /id="secret-id"[^>]*value="([^"]+)"/.exec(made.html)?.[1] ?? ''
    const at = `/console/clients/${id}`
    expect((await operator.open(at)).html).not.toContain(secret)
    await act(`${at}/edit`, { name: 'Overlay 2' })
    const rotated = await act(`${at}/rotate-secret`)
    const newer = /value="(ssec_\w+)"/.exec(rotated.html)?.[1] ?? ''
    server().canaries.add(newer)
    expect(newer).not.toBe(secret)
    const issued = await act(`${at}/token`, {
      user_id: server().world.broadcaster.login,
      scopes: 'user:read:follows',
    })
    const token = /value="(susr_\w+)"/.exec(issued.html)?.[1] ?? ''
    server().canaries.note(issued.html)
    const validated = await server().call({
      path: '/oauth2/validate',
      headers: { Authorization: `OAuth ${token}` },
    })
    expect(validated.body.scopes).toEqual(['user:read:follows'])
    await act(`${at}/delete`, { confirm: 'Overlay 2' })
    expect((await read('/clients')).some((each: { id: string }) => each.id === id)).toBe(false)

    const added = await act('/console/media-servers/new', { name: 'edge-7', adapter: 'nginx-rtmp' })
    server().canaries.note(added.html)
    expect(added.html).toMatch(/value="smed_\w+"/)
    await act('/console/media-servers/edge-7/edit', {
      adapter: 'nginx-rtmp',
      api_url: 'http://127.0.0.1:8088',
    })
    expect((await read('/media-servers/edge-7'))[0].api_url).toBe('http://127.0.0.1:8088')
    server().canaries.note((await act('/console/media-servers/edge-7/rotate-secret')).html)
    await act('/console/media-servers/edge-7/delete', { confirm: 'edge-7' })
    expect(await read('/media-servers')).toEqual([])

    const named = await act('/console/operators/new', { name: 'day-shift' })
    server().canaries.note(named.html)
    expect(named.html).toMatch(/value="sopr_\w+"/)
    await act('/console/operators/day-shift/delete', { confirm: 'day-shift' })
    expect(await read('/operators')).toEqual([])
  })

  test('videos: edit and delete', async () => {
    const [video] = (await read('/videos')).filter((each: { is_live: boolean }) => !each.is_live)
    await act(`/console/videos/${video.id}/edit`, { title: 'Archive piece', view_count: '77' })
    expect((await read(`/videos/${video.id}`))[0]).toMatchObject({ title: 'Archive piece', view_count: 77 })
    await act(`/console/videos/${video.id}/delete`)
    expect((await read('/videos')).some((each: { id: string }) => each.id === video.id)).toBe(false)
  })

  test('event subscriptions and deliveries: replay, resend, delete', async () => {
    const { client, broadcaster } = server().world
    const subscribed = await server().call({
      method: 'POST',
      path: '/helix/eventsub/subscriptions',
      body: {
        type: 'stream.online',
        version: '1',
        condition: { broadcaster_user_id: broadcaster.id },
        transport: { method: 'webhook', callback: 'http://127.0.0.1:9/none', secret: 'a secret of ten' },
      },
      token: client.app_token,
      headers: { 'Client-Id': client.id },
    })
    expect(subscribed.status).toBe(202)
    const [{ id }] = subscribed.body.data
    expect((await operator.open(`/console/event-subscriptions?client_id=${client.id}`)).html).toContain(id)
    const opened = await operator.open(`/console/event-subscriptions?open=${id}`)
    expect(opened.html).toContain('http://127.0.0.1:9/none')
    const [delivery] = await read(`/deliveries?subscription_id=${id}`)
    await operator.open('/console/deliveries')
    const resent = await operator.submit(`/console/deliveries/${delivery.id}/resend`)
    expect(resent.html).toContain('The message is sent again.')
    await act('/console/deliveries/replay', { since: '2026-01-01T00:00:00Z', subscription_id: id })
    await act(`/console/event-subscriptions/${id}/delete`)
    const left = await read(`/event-subscriptions?client_id=${client.id}`)
    expect(left.some((each: { id: string }) => each.id === id)).toBe(false)
    await operator.open('/console/event-subscriptions')
    const again = await operator.open(`/console/event-subscriptions/${id}/delete`)
    expect((await operator.submit(`/console/event-subscriptions/${id}/delete`)).status).toBe(404)
    expect(again.status).toBe(200)
  })

  test('the audit log shows changes, and is verified', async () => {
    await control(server(), 'POST', '/games', { name: 'Before' })
    const [entry] = await read('/audit?operation=CreateGame')
    const opened = await operator.open(`/console/audit?operation=CreateGame&open=${entry.hash}`)
    expect(opened.html).toContain(entry.hash)
    expect(opened.html).toContain('aria-expanded="true"')
    const intact = await operator.submit('/console/audit/verify')
    expect([intact.status, intact.html.includes('The audit log is intact')]).toEqual([200, true])
    await server().execute(`update audit set actor = 'someone' where hash = '${entry.hash}'`)
    await operator.open('/console/audit')
    const altered = await operator.submit('/console/audit/verify')
    expect(altered.html).toContain('The audit log was altered')
    expect(altered.html).toContain('its hash does not match its contents')
    await server().execute(`update audit set actor = 'operator' where hash = '${entry.hash}'`)
  })

  test('the doctor reports on this node', async () => {
    const { html } = await operator.open('/console/doctor')
    for (const about of ['listeners', 'disk space', 'schema', 'key ring']) expect(html).toContain(about)
    expect(html).toContain('class="status good">ok')
  })

  test('the demo: clock, faults and reset', async () => {
    const [before] = await read('/clock')
    await operator.open('/console/demo')
    await operator.submit('/console/demo/clock', { advance_seconds: '86400' })
    const [after] = await read('/clock')
    expect(Date.parse(after.now) - Date.parse(before.now)).toBeGreaterThanOrEqual(86_400_000)
    // The session does not depend on the clock of the demo.
    expect(isLogIn(await operator.open('/console/demo'))).toBe(false)
    await operator.submit('/console/demo/fault', {
      operation: 'GetStreams',
      outcome: 'unavailable',
      times: '3',
    })
    expect((await operator.open('/console/demo')).html).toContain('GetStreams')
    expect((await read('/faults'))[0]).toMatchObject({ operation: 'GetStreams', times: 3 })
    await operator.submit('/console/demo/clear-faults')
    expect(await read('/faults')).toEqual([])
    await act('/console/demo/reset')
    expect((await read('/games?name=Before')).length).toBe(0)
    expect(Date.parse((await read('/clock'))[0].now)).toBeLessThan(Date.parse(after.now))
  })

  test('the overview has the metrics of the last minutes', async () => {
    let points: { live: number; viewers: number }[] = []
    // Streams that ended just now may still count.
    const live = (await read('/streams?first=100')).length
    while (points.at(-1)?.live !== live) {
      await Bun.sleep(50)
      points = JSON.parse((await operator.open('/console/history')).html).points
    }
    expect(points.at(-1)?.viewers).toBeGreaterThan(0)
    const { html } = await operator.open('/console')
    for (const text of ['Requests per second', 'Latency', 'Writer queue', 'Feed lag', 'Accepts writes'])
      expect(html).toContain(text)
    expect(html).toMatch(
      /<td data-label="Operation">page<\/td><td data-label="Per second" class="right num">\d+\.\d\d</,
    )
  })
})

onEachStore(
  'a console that is asked too often',
  { config: { ...SEPARATE, oauthRates: { address: 3, client: 0, validation: 0 } } },
  server => {
    test('429 without a session, and never with one', async () => {
      const operator = await loggedIn(server())
      for (let turn = 0; turn < 8; turn++) expect((await operator.open('/console/users')).status).toBe(200)
      const stranger = atDesk(server())
      for (const ask of [
        () => stranger.open('/console'),
        () => stranger.postRaw('/console/login', {}, {}),
        () => stranger.postRaw('/console/games/new', {}, {}),
      ]) {
        const statuses: number[] = []
        for (let turn = 0; turn < 4; turn++) statuses.push((await ask()).status)
        expect(statuses.at(-1)).toBe(429)
      }
    })
  },
)

onEachStore('outside of a demo', { demo: false }, server => {
  test('404 the controls of a demo', async () => {
    const operator = await loggedIn(server())
    expect((await operator.open('/console')).html).not.toContain('/console/demo')
    for (const path of ['/console/demo', '/console/demo/reset'])
      expect([path, (await operator.open(path)).status]).toEqual([path, 404])
  })
})

describe('the history of metrics', () => {
  const family = (name: string, samples: [Record<string, string>, number, string?][]) => ({
    name,
    kind: 'counter' as const,
    help: '',
    samples: samples.map(([labels, value, suffix = '']) => ({ labels, value, suffix })),
  })

  test('has rates between two readings, and is bounded', async () => {
    let requests = 0
    const history = new MetricsHistory(async () => [
      family('strand_http_requests_total', [
        [{ operation: 'GetStreams', status: '200' }, requests],
        [{ operation: 'GetStreams', status: '503' }, requests / 2],
      ]),
      family('strand_directory_streams', [
        [{ worker: '1' }, 7],
        [{ worker: '2' }, 7],
      ]),
    ])
    for (let turn = 0; turn < 400; turn++) {
      requests += 10
      await history.sample()
    }
    const points = history.since(0)
    expect(points.length).toBe(300)
    expect(points.at(-1)).toMatchObject({ live: 7 })
    expect(points.every(({ requests: rate, failed }) => rate > 0 && failed > 0 && failed < rate)).toBe(true)
    const [load] = history.operations()
    expect(load).toMatchObject({ operation: 'GetStreams', requests: 99 * 15, failed: 99 * 5 })
    // A restarted process counts from 0 again.
    requests = 0
    await history.sample()
    expect(history.since(0).at(-1)?.requests).toBe(0)
  })

  test('finds quantiles within buckets', () => {
    const upTo = new Map([
      [0.001, 50],
      [0.01, 90],
      [0.1, 100],
      [Number.POSITIVE_INFINITY, 100],
    ])
    expect(quantile(upTo, 0.5)).toBeCloseTo(0.001)
    expect(quantile(upTo, 0.95)).toBeCloseTo(0.055)
    expect(quantile(new Map(), 0.5)).toBe(0)
    expect(
      quantile(
        new Map([
          [0.1, 0],
          [Number.POSITIVE_INFINITY, 4],
        ]),
        0.5,
      ),
    ).toBe(0.1)
  })
})

/** The fields of the rows that a list returns. */
function rowSchemaOf(list: Operation): object {
  const { returns } = list as unknown as {
    returns: { properties: { data: { items: { properties: object } } } }
  }
  return returns.properties.data.items.properties
}
