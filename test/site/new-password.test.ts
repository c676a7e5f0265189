/** The link that `strand user reset-password` prints, and the page that it opens (D-275). */
import { expect, test } from 'bun:test'
import { newUser, tokenOf } from '../operations/control/operator.ts'
import { Person } from '../support/browser/person.ts'
import { usingCheapPasswords } from '../support/server/cheap-passwords.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

usingCheapPasswords()

const NEW = 'a password of her own'

async function newAccount(server: TestServer, password = 'the first password') {
  const user = await newUser(server, { password })
  return { ...user, ...(await newLink(server, user.id)) }
}

async function newLink(server: TestServer, id: string): Promise<{ path: string; secret: string }> {
  const [{ reset_url }] = await server.control('POST', `/users/${id}/password-reset`)
  const { pathname, search } = new URL(reset_url)
  return { path: pathname + search, secret: search.split('=')[1] ?? '' }
}

function person(server: TestServer): Person {
  const browser = new Person(server)
  browser.headers = { Accept: 'text/html' }
  return browser
}

async function logIn(server: TestServer, login: string, password: string): Promise<number> {
  const browser = person(server)
  await browser.open('/login')
  return (await browser.post('/login', { login, password })).status
}

const ENDED = 'This link is no longer valid'

onEachStore('a link to set a password', {}, get => {
  test('302 sets the password once, logs out all browsers and revokes all tokens', async () => {
    const server = get()
    const { id, login, path } = await newAccount(server)
    const [token, other] = [await tokenOf(server, id), person(server)]
    await other.holdSession(id)
    expect((await other.open('/account')).status).toBe(200)

    const browser = person(server)
    const shown = await browser.open(path)
    expect([shown.status, shown.html.includes(`<strong>${login}</strong>`)]).toEqual([200, true])
    const done = await browser.post('/account/new-password', { password: NEW })
    expect([done.status, done.location]).toEqual([302, '/login?done=password'])
    expect((await browser.open('/login?done=password')).html).toContain('Your password has been changed.')

    expect((await other.open('/account')).status).toBe(302)
    expect((await server.call({ path: '/oauth2/validate', token })).status).toBe(401)
    expect(await logIn(server, login, 'the first password')).toBe(401)
    expect(await logIn(server, login, NEW)).toBe(302)
    const again = await browser.open(path)
    expect([again.status, again.html.includes(ENDED)]).toEqual([404, true])
  })

  test('404 of two browsers that send the form, one sets the password', async () => {
    const server = get()
    const { path } = await newAccount(server)
    const browsers = [person(server), person(server)]
    for (const browser of browsers) await browser.open(path)
    const sent = browsers.map((browser, n) =>
      browser.post('/account/new-password', { password: `${NEW} ${n}` }),
    )
    expect((await Promise.all(sent)).map(({ status }) => status).sort()).toEqual([302, 404])
  })

  test('400 a password that is too short leaves the link as it is', async () => {
    const server = get()
    const { path } = await newAccount(server)
    const browser = person(server)
    await browser.open(path)
    const short = await browser.post('/account/new-password', { password: 'short' })
    expect([short.status, short.html.includes('at least 8 characters')]).toEqual([400, true])
    expect((await browser.post('/account/new-password', { password: NEW })).status).toBe(302)
  })

  test('404 after 24 hours, after another link, after a change of the password, and while suspended', async () => {
    const server = get()
    const isOpen = async (path: string) => (await person(server).open(path)).status === 200
    const first = await newAccount(server)
    const second = await newLink(server, first.id)
    expect([await isOpen(first.path), await isOpen(second.path)]).toEqual([false, true])
    await server.control('PUT', `/users/${first.id}`, { password: 'set by the operator' })
    expect(await isOpen(second.path)).toBe(false)

    const third = await newLink(server, first.id)
    await server.control('PUT', `/users/${first.id}/suspension`, {})
    expect(await isOpen(third.path)).toBe(false)
    await server.control('DELETE', `/users/${first.id}/suspension`)
    expect(await isOpen(third.path)).toBe(true)
    await server.control('POST', '/clock', { advance_seconds: 24 * 3600 + 1 })
    expect(await isOpen(third.path)).toBe(false)
  })

  test('404 for what is no link; the secret is neither in the store nor in the log', async () => {
    const server = get()
    const { secret, path } = await newAccount(server)
    await person(server).open(path)
    const wrong = `${secret.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`
    for (const reset of [wrong, 'x', ''])
      expect((await person(server).open(`/account/new-password?reset=${reset}`)).status).toBe(404)
    expect(server.logLines.filter(line => line.includes(secret))).toEqual([])
    server.canaries.add(secret)
  })
})
