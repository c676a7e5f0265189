/** The profile on the account page, what others see of it, and the theme of a browser. */
import { expect, test } from 'bun:test'
import { newUser } from '../operations/control/operator.ts'
import { Person } from '../support/browser/person.ts'
import { usingCheapPasswords } from '../support/server/cheap-passwords.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

usingCheapPasswords()

async function enter(server: TestServer, more: object = {}) {
  const user = await newUser(server, { password: 'the first password', ...more })
  const person = new Person(server)
  person.headers = { Accept: 'text/html' }
  await person.holdSession(user.id)
  await person.open('/account')
  return { user, person }
}

async function openAsVisitor(server: TestServer, path: string): Promise<string> {
  const visitor = new Person(server)
  visitor.headers = { Accept: 'text/html' }
  return (await visitor.open(path)).html
}

const show = async (server: TestServer, id: string) => (await server.control('GET', `/users/${id}`))[0]

onEachStore('the profile', {}, get => {
  test('302 saves display name, bio, language and links, which the channel and the API show', async () => {
    const server = get()
    const { user, person } = await enter(server)
    const display_name = user.login.toUpperCase()
    const saved = await person.post('/account/profile', {
      display_name,
      description: 'Night dives.\r\nSlow games. 🦦 أهلا',
      language: 'ja',
      label1: ' My   schedule ',
      url1: 'https://otter.example.com/week',
      label3: '<b>日本語</b>',
      url3: 'https://example.com/?a="b"',
    })
    expect([saved.status, saved.location]).toEqual([302, '/account?done=profile'])
    const shown = await person.open('/account?done=profile')
    expect(shown.html).toContain('Your profile has been saved.')
    expect(shown.html).toContain('value="My schedule"')
    const links = [
      'My schedule https://otter.example.com/week',
      '<b>日本語</b> https://example.com/?a=%22b%22',
    ]
    const description = 'Night dives.\nSlow games. 🦦 أهلا'
    expect(await show(server, user.id)).toMatchObject({ display_name, description, links })
    expect((await server.control('GET', `/channels/${user.id}`))[0].language).toBe('ja')
    const channel = await openAsVisitor(server, `/${user.login}`)
    expect(channel).toContain(
      '<a href="https://otter.example.com/week" rel="nofollow noopener ugc">My schedule</a>',
    )
    expect(channel).toContain('&lt;b>日本語&lt;/b>')
    const [row] = await server.control('GET', `/audit?subject=user/${user.id}&first=1`)
    expect(row).toMatchObject({ actor: `user/${user.id}`, after: { links } })
  })

  test('302 removes what is left empty, and a channel without bio and links has no such part', async () => {
    const server = get()
    const { user, person } = await enter(server, {
      description: 'Night dives.',
      links: ['Reef https://example.com'],
    })
    expect(await openAsVisitor(server, `/${user.login}`)).toContain('id="about-heading"')
    await person.post('/account/profile', { display_name: user.login, description: '', label1: '', url1: '' })
    expect(await show(server, user.id)).toMatchObject({ description: '', links: [] })
    expect(await openAsVisitor(server, `/${user.login}`)).not.toContain('id="about-heading"')
  })

  test('400 keeps what was typed, and changes nothing', async () => {
    const server = get()
    const { user, person } = await enter(server)
    const good = {
      display_name: user.login,
      description: 'typed',
      label1: 'Reef',
      url1: 'https://example.com',
    }
    for (const [wrong, sentence] of [
      [{ display_name: 'Somebody_Else' }, 'by capital letters only'],
      [{ description: 'x'.repeat(301) }, 'at most 300 characters'],
      [{ url1: 'http://example.com' }, 'must begin with https://'],
      [{ url1: 'javascript:alert(1)' }, 'must begin with https://'],
      [{ url1: 'https://friend@evil.example' }, 'must begin with https://'],
      [{ url1: '' }, 'a label and an address'],
      [{ label1: 'x'.repeat(41) }, 'at most 40 characters'],
    ] as const) {
      await person.open('/account')
      const seen = await person.post('/account/profile', { ...good, ...wrong })
      expect([seen.status, seen.html.includes(sentence)]).toEqual([400, true])
      expect(seen.html).toContain('description' in wrong ? 'x'.repeat(301) : '>typed</textarea>')
    }
    expect(await show(server, user.id)).toEqual(user)
  })

  test('302 a name that an operator gave can stay', async () => {
    const server = get()
    const { user, person } = await enter(server, { display_name: 'Čau 🦦' })
    const saved = await person.post('/account/profile', { display_name: 'Čau 🦦', description: 'new' })
    expect(saved.status).toBe(302)
    expect(await show(server, user.id)).toMatchObject({ display_name: 'Čau 🦦', description: 'new' })
  })

  test('302 a theme is that of every page in this browser, errors too, until it is automatic again', async () => {
    const server = get()
    const { person } = await enter(server)
    const themeOf = async (path: string) =>
      /<html lang="en"( data-theme="\w+")?>/.exec((await person.open(path)).html)?.[1]
    const paths = ['/', '/account', '/docs', '/no_such_channel', '/videos/1', '/?after=broken']
    for (const path of paths) expect([path, await themeOf(path)]).toEqual([path, undefined])
    for (const theme of ['dark', 'light']) {
      await person.open('/account')
      const saved = await person.post('/account/appearance', { theme })
      expect([saved.status, saved.location]).toEqual([302, '/account?done=appearance'])
      for (const path of paths) expect([path, await themeOf(path)]).toEqual([path, ` data-theme="${theme}"`])
      const { html } = await person.open('/account')
      expect(/<input type="radio"[^>]*value="(\w+)"[^>]*checked/.exec(html)?.[1]).toBe(theme)
    }
    for (const theme of ['auto', 'purple"><script>']) {
      await person.open('/account')
      await person.post('/account/appearance', { theme })
      expect(await themeOf('/')).toBeUndefined()
    }
  })

  test('302 ends all other sessions, and keeps this one', async () => {
    const server = get()
    const { user, person } = await enter(server)
    expect((await person.open('/account')).html).not.toContain('End all other sessions')
    const ids = [...(person.seen?.html ?? '').matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
    expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted())
    const others = [new Person(server), new Person(server)]
    for (const other of others) await other.holdSession(user.id)
    const shown = await person.open('/account')
    expect(shown.html.match(/>this browser</g)).toHaveLength(1)
    expect(shown.html).toMatch(/<time dateTime="[^"]+Z" title="[^"]+ UTC">just now<\/time>/i)
    const done = await person.post('/account/end-other-sessions')
    expect(done.location).toBe('/account?done=others-ended')
    for (const other of others) expect((await other.open('/account')).location).toBe('/login?next=/account')
    expect((await person.open('/account')).status).toBe(200)
  })
})
