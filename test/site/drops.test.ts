/** The drops of a viewer (D-161): those of all organizations, their own only, in pages. */
import { expect, test } from 'bun:test'
import { onEachStore } from '../support/each-store.ts'
import { Person } from '../support/person.ts'

onEachStore('drops', {}, server => {
  const newViewer = async () => {
    const login = `viewer_${Math.floor(Math.random() * 1e9)}`
    const password = 'a password of theirs'
    const [{ id }] = await server().control('POST', '/users', { login, password })
    const person = new Person(server())
    person.headers = { Accept: 'text/html' }
    await person.browse('/login')
    await person.submit('/login', { login, password })
    return { id: id as string, person }
  }
  const grant = (user_ids: readonly string[], benefit_id = server().world.benefit.id) =>
    server().control('POST', '/entitlements', {
      grants: user_ids.map(user_id => ({ user_id, benefit_id, game_id: server().world.game.id })),
    })
  const idsIn = (html: string) => [...html.matchAll(/<li class="panel"/g)].length

  test('302 without a session', async () => {
    expect((await new Person(server()).open('/drops')).location).toBe('/login?next=/drops')
  })

  test('200 none yet: leads to the live channels', async () => {
    const { person } = await newViewer()
    const { status, html } = await person.open('/drops')
    expect([status, html.includes('No drops yet')]).toEqual([200, true])
    expect(html).toContain('See who is live')
    expect(html).not.toContain('<script')
  })

  test('200 benefit, game, status and time, of two organizations, and of no other user', async () => {
    const [mine, other] = [await newViewer(), await newViewer()]
    const { world } = server()
    const benefitOf = async (organization_id: string, name: string) =>
      (await server().control('POST', '/benefits', { organization_id, name }))[0].id as string
    const lantern = await benefitOf(world.organization.id, 'Coral <b>lantern</b>')
    const cloak = await benefitOf(world.other_organization.id, 'Tide cloak')
    const [first] = await grant([mine.id], lantern)
    await grant([mine.id], cloak)
    await grant([other.id])
    const shown = await mine.person.open('/drops')
    expect(idsIn(shown.html)).toBe(2)
    expect(shown.html).toContain('Coral &lt;b>lantern&lt;/b>')
    expect(shown.html).toContain('Tide cloak')
    expect(shown.html.match(/On its way/g)).toHaveLength(2)
    expect(shown.html).toContain(`<img src="/images/games/${world.game.id}-144x192.svg"`)
    const update = { entitlement_ids: [first.id], fulfillment_status: 'FULFILLED' }
    await server().call({
      method: 'PATCH',
      path: '/helix/entitlements/drops',
      token: world.client.app_token,
      body: update,
    })
    const { html } = await mine.person.open('/drops')
    expect([html.match(/On its way/g)?.length, html.match(/>Delivered</g)?.length]).toEqual([1, 1])
  })

  test('200 pages walk through all of them; 400 a cursor of another list', async () => {
    const { id, person } = await newViewer()
    await grant(Array.from({ length: 45 }, () => id))
    const sizes: number[] = []
    for (let path: string | undefined = '/drops'; path !== undefined; ) {
      const { html } = await person.open(path)
      sizes.push(idsIn(html))
      path = /rel="next" href="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
    }
    expect(sizes).toEqual([20, 20, 5])
    expect((await person.open('/drops?after=made-up')).status).toBe(400)
  })

  test('200 tokens of applications stay within their organization', async () => {
    const { id, person } = await newViewer()
    const { world } = server()
    const [{ id: foreign }] = await server().control('POST', '/benefits', {
      organization_id: world.other_organization.id,
      name: 'Foreign',
    })
    await grant([id], foreign)
    const [{ access_token }] = await server().control('POST', '/tokens', {
      client_id: world.client.id,
      user_id: id,
      scopes: ['user:read:entitlements'],
    })
    const listed = await server().call({ path: '/helix/entitlements/drops', token: access_token })
    expect(listed.body.data).toEqual([])
    expect(idsIn((await person.open('/drops')).html)).toBe(1)
  })
})
