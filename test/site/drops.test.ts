/** The drops of a viewer (D-157): those of all organizations, their own only, in pages. */
import { beforeAll, expect, test } from 'bun:test'
import { Person } from '../support/browser/person.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { usingCheapPasswords } from './cheap-passwords.ts'

usingCheapPasswords()

const PASSWORD = 'a password of theirs'

interface Viewer {
  readonly id: string
  readonly person: Person
}

onEachStore('drops', {}, server => {
  let [mine, other] = [] as unknown as [Viewer, Viewer]
  let foreign = { benefit_id: '', game_id: '' }

  const newViewer = async (name: string): Promise<Viewer> => {
    const login = `${name}_${Math.floor(Math.random() * 1e9)}`
    const [{ id }] = await server().control('POST', '/users', { login, password: PASSWORD })
    const person = new Person(server())
    person.headers = { Accept: 'text/html' }
    await person.browse('/login')
    await person.submit('/login', { login, password: PASSWORD })
    return { id, person }
  }
  const newBenefit = async (organization_id: string, name: string): Promise<string> =>
    (await server().control('POST', '/benefits', { organization_id, name }))[0].id
  beforeAll(async () => {
    ;[mine, other] = [await newViewer('mine'), await newViewer('other')]
    const { id: organization_id } = server().world.other_organization
    const [game] = await server().control('POST', '/games', { name: 'Reef racers', organization_id })
    foreign = { game_id: game.id, benefit_id: await newBenefit(organization_id, 'Tide cloak') }
  })

  const grant = (...grants: { user_id: string; benefit_id?: string; game_id?: string }[]) => {
    const { benefit, game } = server().world
    const usual = { benefit_id: benefit.id, game_id: game.id }
    return server().control('POST', '/entitlements', { grants: grants.map(each => ({ ...usual, ...each })) })
  }
  const countIn = (html: string, text: string) => html.split(text).length - 1
  const ROW = '<li class="panel">'

  test('302 without a session', async () => {
    expect((await new Person(server()).open('/drops')).location).toBe('/login?next=/drops')
  })

  test('200 none yet: leads to the live channels', async () => {
    const { status, html } = await mine.person.open('/drops')
    expect([status, html.includes('No drops yet')]).toEqual([200, true])
    expect(html).toContain('See who is live')
    expect(html).not.toContain('<script')
  })

  test('200 benefit, game, status and time, of two organizations, and of no other user', async () => {
    const { world } = server()
    const lantern = await newBenefit(world.organization.id, 'Coral <b>lantern</b>')
    const [first] = await grant({ user_id: mine.id, benefit_id: lantern }, { user_id: mine.id, ...foreign })
    await grant({ user_id: other.id })
    const { html } = await mine.person.open('/drops')
    expect([countIn(html, ROW), countIn(html, 'On its way')]).toEqual([2, 2])
    for (const text of ['Coral &lt;b>lantern&lt;/b>', 'Tide cloak', 'Reef racers', 'UTC</time>'])
      expect([text, html.includes(text)]).toEqual([text, true])
    expect(html).toContain(`<img src="/images/games/${world.game.id}-144x192.svg"`)
    const updated = await server().call({
      method: 'PATCH',
      path: '/helix/entitlements/drops',
      token: world.client.app_token,
      body: { entitlement_ids: [first.id], fulfillment_status: 'FULFILLED' },
    })
    expect(updated.body.data).toEqual([{ status: 'SUCCESS', ids: [first.id] }])
    const after = (await mine.person.open('/drops')).html
    expect([countIn(after, 'On its way'), countIn(after, '>Delivered<')]).toEqual([1, 1])
  })

  test('200 pages walk through all of them; 400 a cursor of another list', async () => {
    await grant(...Array.from({ length: 44 }, () => ({ user_id: other.id })))
    const sizes: number[] = []
    for (let path: string | undefined = '/drops'; path !== undefined; ) {
      const { html } = await other.person.open(path)
      sizes.push(countIn(html, ROW))
      path = /rel="next" href="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
    }
    expect(sizes).toEqual([20, 20, 5])
    expect((await other.person.open('/drops?after=made-up')).status).toBe(400)
  })

  test('200 tokens of applications stay within their organization', async () => {
    const { world } = server()
    const [{ access_token }] = await server().control('POST', '/tokens', {
      client_id: world.client.id,
      user_id: mine.id,
      scopes: ['user:read:entitlements'],
    })
    const { body } = await server().call({ path: '/helix/entitlements/drops', token: access_token })
    expect(body.data.map((each: { benefit_id: string }) => each.benefit_id)).not.toContain(foreign.benefit_id)
    expect(body.data).toHaveLength(1)
  })
})
