/** A device's code, typed by a person who decides. */
import { expect, test } from 'bun:test'
import { loggedIn, register, type TestApplication, validate } from '../support/consent.ts'
import { onEachStore } from '../support/each-store.ts'
import { Person } from '../support/person.ts'

onEachStore('the activation page', {}, server => {
  const start = async (application: TestApplication) =>
    (
      await server().call({
        method: 'POST',
        path: '/oauth2/device',
        query: { client_id: application.id, scopes: 'user:read:follows chat:read' },
      })
    ).body
  const poll = (application: TestApplication, device_code: string) =>
    server().call({
      method: 'POST',
      path: '/oauth2/token',
      body: {
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        client_id: application.id,
        device_code,
        scopes: 'user:read:follows chat:read',
      },
    })

  test('200 typed, seen, allowed: the device gets its tokens, once', async () => {
    const application = await register(server(), { kind: 'public', name: 'Living room' })
    const { device_code, user_code } = await start(application)
    expect((await poll(application, device_code)).body.message).toBe('authorization_pending')
    const person = await loggedIn(server())
    const typed = `${user_code.slice(0, 4).toLowerCase()}-${user_code.slice(4)} `
    const form = await person.browse('/activate')
    expect(form.html).toContain('Type the code')
    const asked = await person.browse(`/activate?device-code=${encodeURIComponent(typed)}`)
    expect(asked.html).toContain('Living room asks for access')
    expect(asked.html).toContain(user_code)
    expect((await poll(application, device_code)).body.message).toBe('authorization_pending')
    const done = await person.submit('/activate', { decision: 'allow' })
    expect(done.html).toContain('The device is connected')
    const answer = await poll(application, device_code)
    expect(answer.body.scope).toEqual(['user:read:follows', 'chat:read'])
    const { body } = await validate(server(), answer.body.access_token)
    expect(body.login).toBe(server().world.broadcaster.login)
    expect((await poll(application, device_code)).body.message).toBe('invalid device code')
    expect((await person.browse('/account')).html).toContain('Living room')
  })

  test('200 denied: the device is told so', async () => {
    const application = await register(server(), { kind: 'public' })
    const { device_code, user_code } = await start(application)
    const person = await loggedIn(server())
    await person.browse(`/activate?device-code=${user_code}`)
    const done = await person.submit('/activate', { decision: 'deny' })
    expect(done.html).toContain('turned away')
    expect((await poll(application, device_code)).body.message).toBe('access_denied')
    expect((await person.browse(`/activate?device-code=${user_code}`)).status).toBe(400)
  })

  test('200 asks who is not logged in first, with the code kept', async () => {
    const application = await register(server(), { kind: 'public' })
    const { verification_uri, user_code } = await start(application)
    const link = new URL(verification_uri)
    expect(link.origin).toBe(server().url)
    const person = new Person(server())
    expect((await person.browse(link.pathname + link.search)).html).toContain('Log in')
    const { login, password } = server().world.users[0] ?? { login: '', password: '' }
    expect((await person.submit('/login', { login, password })).html).toContain(user_code)
  })

  test('400 an unknown or old code is told as such, and guessing is limited', async () => {
    const application = await register(server(), { kind: 'public' })
    const { user_code } = await start(application)
    await server().control('POST', '/clock', { advance_seconds: 1801 })
    const person = await loggedIn(server(), server().world.users[2]?.login)
    const old = await person.browse(`/activate?device-code=${user_code}`)
    expect([old.status, old.html.includes('No device waits')]).toEqual([400, true])
    let last = old
    for (let n = 0; n < 12; n++)
      last = await person.browse(`/activate?device-code=BCDFGHJ${'KLMNPQRSTVWX'[n]}`)
    expect(last.html).toContain('too many wrong codes')
  })

  test('400 a device that waits no longer when it is allowed', async () => {
    const application = await register(server(), { kind: 'public' })
    const { user_code } = await start(application)
    const person = await loggedIn(server())
    await person.browse(`/activate?device-code=${user_code}`)
    await server().control('POST', '/clock', { advance_seconds: 1801 })
    const seen = await person.submit('/activate', { decision: 'allow' })
    expect([seen.status, seen.html.includes('waits no longer')]).toEqual([400, true])
  })
})
