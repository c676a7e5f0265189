/** The page of drops (D-157, D-233): claims, progress, what comes, and what was earned; one's own only, without a script. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { timeUntil } from '../../src/site/format/times.ts'
import { newUser, nowOf } from '../operations/control/operator.ts'
import {
  advance,
  deleteCampaignOfWorld,
  newViewer as newApiViewer,
  newBenefit,
  newGame,
  newLiveChannel,
  publishedCampaign,
} from '../operations/drops/campaigns.ts'
import { csrfIn, Person } from '../support/browser/person.ts'
import { usingCheapPasswords } from '../support/server/cheap-passwords.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

usingCheapPasswords()

interface Viewer {
  readonly id: string
  readonly person: Person
}

const HTML = { Accept: 'text/html' }

async function newViewer(server: TestServer): Promise<Viewer> {
  const { id } = await newUser(server)
  const person = new Person(server)
  person.headers = HTML
  await person.holdSession(id)
  return { id, person }
}

const addMinutes = (server: TestServer, campaign: { id: string }, user_id: string, add: number) =>
  server.control('POST', `/campaigns/${campaign.id}/viewers/${user_id}/minutes`, { add })

const countIn = (html: string, text: string) => html.split(text).length - 1
const headingsIn = (html: string) =>
  [...html.matchAll(/<h2 id="[^"]*">([^<]*)</g)].map(([, title = '']) => title)
/** The section below a heading. */
const sectionIn = (html: string, id: string) =>
  new RegExp(`<section id="${id}".*?</section>`, 's').exec(html)?.[0] ?? ''
const textIn = (html: string) =>
  html
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

onEachStore('the page of drops', {}, server => {
  let game: { id: string; name: string }

  beforeAll(async () => {
    await deleteCampaignOfWorld(server())
    game = await newGame(server(), { name: 'Kite <b>Racers</b>' })
  })

  /** Minutes of each drop, which gives a benefit of its name. */
  async function campaignWith(minutes: readonly number[], more: object = {}) {
    const drops = await Promise.all(
      minutes.map(async (required_minutes, place) => ({
        id: crypto.randomUUID() as string,
        name: `Step ${place + 1}`,
        required_minutes,
        benefit_ids: [(await newBenefit(server(), { name: `Kite no. ${required_minutes}` })).id],
      })),
    )
    return publishedCampaign(server(), { game_id: game.id, drops, ...more })
  }
  const stop = ({ id }: { id: string }) => server().control('POST', `/campaigns/${id}/stop`)

  test('200 headings only where there is something, each campaign where it belongs', async () => {
    const now = nowOf(server())
    const later = {
      starts_at: new Date(now + 3 * 86_400_000).toISOString(),
      ends_at: new Date(now + 9 * 86_400_000).toISOString(),
    }
    const running = await campaignWith([30, 90], { name: 'Reef <i>week</i>' })
    const upcoming = await campaignWith([10], { name: 'Next month', ...later })
    const mine = await newViewer(server())
    const before = await mine.person.open('/drops')
    expect([before.status, headingsIn(before.html)]).toEqual([200, ['In progress', 'Upcoming']])
    expect(before.html).not.toContain('<script')
    await addMinutes(server(), running, mine.id, 42)
    const { html } = await mine.person.open('/drops')
    expect(headingsIn(html)).toEqual(['Claim now', 'In progress', 'Upcoming'])
    const progress = sectionIn(html, 'in-progress')
    // Names are text.
    expect(progress).toContain('Reef &lt;i>week&lt;/i>')
    expect(progress).toContain('Kite &lt;b>Racers&lt;/b>')
    expect(html).not.toMatch(/<i>week|<b>Racers| style="| on[a-z]+="/)
    // The bar: a mark for each drop, and how far it is.
    expect(progress).toContain('aria-valuenow="42" aria-valuetext="42 of 90 minutes"')
    expect([
      countIn(progress, 'class="mark reached" cx="33.33%"'),
      countIn(progress, 'class="mark" cx="100.00%"'),
    ]).toEqual([1, 1])
    expect(textIn(progress)).toContain('48 minutes left')
    expect(progress).toMatch(
      new RegExp(
        `Ends <time datetime="${running.ends_at}" title="[0-9-]{10} [0-9:]{5} UTC">in 23 hours</time>`,
      ),
    )
    expect(textIn(sectionIn(html, 'upcoming'))).toMatch(/Next month .* Starts in [23] days Kite no. 10/)
    expect(sectionIn(html, 'upcoming')).not.toContain('Watch a channel')
    await Promise.all([running, upcoming].map(stop))
  })

  test('200 a channel to watch: one that counts, not one of another game, one that is not listed, or one’s own', async () => {
    const one = await campaignWith([30])
    const mine = await newViewer(server())
    const other = await newLiveChannel(server(), (await newGame(server())).id)
    expect((await mine.person.open('/drops')).html).toContain('No channel is live')
    const live = await newLiveChannel(server(), game.id)
    const { html } = await mine.person.open('/drops')
    expect(sectionIn(html, 'in-progress')).toContain(`<a class="button" href="/${live.login}"`)
    expect(html).not.toContain(`href="/${other.login}"`)
    const broadcaster = new Person(server())
    await broadcaster.holdSession(live.id)
    expect((await broadcaster.open('/drops')).html).toContain('No channel is live')
    await stop(one)
    const listed = await campaignWith([30], { channels: 'listed', channel_ids: [other.id] })
    expect((await mine.person.open('/drops')).html).toContain('No channel is live')
    await server().control('PUT', `/campaigns/${listed.id}`, { channel_ids: [live.id] })
    expect((await mine.person.open('/drops')).html).toContain(`href="/${live.login}"`)
    await stop(listed)
  })

  test('302 a claim: the page reports what was earned, once, also if it is sent again', async () => {
    const campaign = await campaignWith([5, 60])
    const mine = await newViewer(server())
    await addMinutes(server(), campaign, mine.id, 5)
    const [drop] = campaign.drops
    const { html } = await mine.person.open('/drops')
    // The number in the header of every page.
    expect(html).toMatch(/>Drops<span class="count num">1<span class="hidden-text"> to claim</)
    expect((await mine.person.open('/account')).html).toContain('<span class="count num">1<')
    await mine.person.open('/drops')
    expect(
      mine.person.seen?.forms.filter(({ action }) => action === '/drops').map(({ fields }) => fields.drop_id),
    ).toEqual([drop.id])
    const csrf = csrfIn(html)
    const answer = await mine.person.post('/drops')
    expect([answer.status, answer.location]).toEqual([302, `/drops?claimed=${drop.id}`])
    for (const again of [false, true]) {
      if (again)
        expect(
          (await mine.person.postRaw('/drops', { csrf, drop_id: drop.id }, { Origin: server().url })).status,
        ).toBe(302)
      const after = await mine.person.open(`/drops?claimed=${drop.id}`)
      expect(textIn(after.html)).toContain('You earned Kite no. 5.')
      expect(headingsIn(after.html)).toEqual(['In progress', 'Earned'])
      expect(countIn(sectionIn(after.html, 'earned'), '<li class="panel">')).toBe(1)
      expect(sectionIn(after.html, 'earned')).toContain('Kite no. 5')
      expect(after.html).not.toContain('class="count num"')
    }
    // What others have claimed is not confirmed to anyone else.
    const other = await newViewer(server())
    expect((await other.person.open(`/drops?claimed=${drop.id}`)).html).not.toContain('You earned')
    await stop(campaign)
  })

  test('409, 403 and 404 refusals are sentences, with the link of the studio', async () => {
    const link = {
      account_link: 'before_claim',
      link_client_id: server().world.client.id,
      link_url: 'https://reef.example/link?a=1&b=2',
    }
    const [strict, open] = [await campaignWith([5], link), await campaignWith([5])]
    const mine = await newViewer(server())
    const claim = async (drop_id: string) => {
      const csrf = csrfIn((await mine.person.open('/activate')).html)
      const seen = await mine.person.postRaw('/drops', { csrf, drop_id }, { Origin: server().url })
      const [notice = ''] = /<p class="notice bad".*?<\/p>/s.exec(seen.html) ?? []
      return [
        seen.status,
        textIn(notice),
        notice.includes('href="https://reef.example/link?a=1&amp;b=2"'),
      ] as const
    }
    expect(await claim(open.drops[0].id)).toEqual([
      409,
      'The drop is not reached: 0 of 5 minutes were watched.',
      false,
    ])
    await addMinutes(server(), strict, mine.id, 5)
    const { html } = await mine.person.open('/drops')
    expect(sectionIn(html, 'claim-now')).toContain('href="https://reef.example/link?a=1&amp;b=2"')
    expect(mine.person.seen?.forms.filter(({ action }) => action === '/drops')).toEqual([])
    const [status, sentence, hasLink] = await claim(strict.drops[0].id)
    expect([status, hasLink]).toEqual([403, true])
    expect(sentence).toStartWith('Link your account at https://reef.example/link?a=1&amp;b=2 first')
    expect((await claim(crypto.randomUUID()))[0]).toBe(404)
    for (const wrong of ['', 'x', '<script>alert(1)</script>']) expect((await claim(wrong))[0]).toBe(400)
    // A script gets the same as data.
    const csrf = csrfIn((await mine.person.open('/activate')).html)
    mine.person.headers = { Accept: 'application/json' }
    const refused = await mine.person.postRaw(
      '/drops',
      { csrf, drop_id: open.drops[0].id },
      { Origin: server().url },
    )
    expect([refused.status, JSON.parse(refused.html)]).toEqual([
      409,
      { message: 'The drop is not reached: 0 of 5 minutes were watched.' },
    ])
    mine.person.headers = HTML
    // Links and claims that come too late.
    await server().control('PUT', `/campaigns/${open.id}`, { claim_seconds: 86_400 })
    await Promise.all([strict, open].map(stop))
    await addMinutes(server(), open, mine.id, 5)
    expect(headingsIn((await mine.person.open('/drops')).html)).toContain('Claim now')
    await advance(server(), 86_401)
    // Their session has ended meanwhile.
    await mine.person.holdSession(mine.id)
    expect(headingsIn((await mine.person.open('/drops')).html)).not.toContain('Claim now')
    expect(await claim(open.drops[0].id)).toEqual([
      409,
      'The drops of this campaign can no longer be claimed.',
      false,
    ])
    expect((await mine.person.open('/')).html).not.toContain('class="count num"')
  })

  test('200 without a session: campaigns, a way to log in, and no form; 302 a claim leads to the log-in', async () => {
    const campaign = await campaignWith([5])
    const stranger = new Person(server())
    stranger.headers = HTML
    const { status, html } = await stranger.open('/drops')
    expect([status, headingsIn(html)]).toEqual([200, ['In progress']])
    expect(html).toContain('href="/login?next=/drops"')
    expect(html).not.toContain('action="/drops"')
    const csrf = csrfIn((await stranger.open('/login')).html)
    const fields = { csrf, drop_id: campaign.drops[0].id }
    const answer = await stranger.postRaw('/drops', fields, { Origin: server().url })
    expect([answer.status, answer.location]).toEqual([302, '/login?next=/drops'])
    stranger.headers = { Accept: 'application/json' }
    expect((await stranger.postRaw('/drops', fields, { Origin: server().url })).status).toBe(401)
    await stop(campaign)
  })

  test('200 campaigns of the viewer are on the page, however many others there are', async () => {
    const mine = await newApiViewer(server())
    const person = new Person(server())
    await person.holdSession(mine.id)
    const own = await campaignWith([5], { name: 'Mine' })
    await addMinutes(server(), own, mine.id, 2)
    const others = []
    for (let count = 0; count < 23; count++)
      others.push(
        await publishedCampaign(server(), {
          name: `Other ${count}`,
          ends_at: new Date(nowOf(server()) + 3_600_000).toISOString(),
        }),
      )
    const progress = sectionIn((await person.open('/drops')).html, 'in-progress')
    expect([countIn(progress, '<article'), progress.indexOf('>Mine<') < progress.indexOf('>Other ')]).toEqual(
      [21, true],
    )
    await Promise.all([own, ...others].map(stop))
  })
})

onEachStore('earned drops', {}, server => {
  let [mine, other] = [] as unknown as [Viewer, Viewer]
  let foreign = { benefit_id: '', game_id: '' }

  const namedBenefit = async (organization_id: string, name: string): Promise<string> =>
    (await server().control('POST', '/benefits', { organization_id, name }))[0].id
  beforeAll(async () => {
    await deleteCampaignOfWorld(server())
    ;[mine, other] = [await newViewer(server()), await newViewer(server())]
    const { id: organization_id } = server().world.other_organization
    const [game] = await server().control('POST', '/games', { name: 'Reef racers', organization_id })
    foreign = { game_id: game.id, benefit_id: await namedBenefit(organization_id, 'Tide cloak') }
  })

  const grant = (...grants: { user_id: string; benefit_id?: string; game_id?: string }[]) => {
    const { benefit, game } = server().world
    const usual = { benefit_id: benefit.id, game_id: game.id }
    return server().control('POST', '/entitlements', { grants: grants.map(each => ({ ...usual, ...each })) })
  }
  const ROW = '<li class="panel">'

  test('200 none yet: explains drops, leads to channels', async () => {
    const { status, html } = await mine.person.open('/drops')
    expect([status, html.includes('No drops yet')]).toEqual([200, true])
    expect(html).toContain('See who is live')
    expect(html).toContain('href="/?drops=1"')
    expect(html).not.toContain('<script')
  })

  test('200 benefit, game, status and time, of two organizations, and of no other user', async () => {
    const { world } = server()
    const lantern = await namedBenefit(world.organization.id, 'Coral <b>lantern</b>')
    const [first] = await grant({ user_id: mine.id, benefit_id: lantern }, { user_id: mine.id, ...foreign })
    await grant({ user_id: other.id })
    const { html } = await mine.person.open('/drops')
    expect([countIn(html, ROW), countIn(html, 'On its way')]).toEqual([2, 2])
    for (const text of ['Coral &lt;b>lantern&lt;/b>', 'Tide cloak', 'Reef racers', ' UTC">just now</time>'])
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

describe('times', () => {
  test('that lie ahead are in words', () => {
    const now = Date.parse('2026-03-01T12:00:00Z')
    const words = (seconds: number) => timeUntil(new Date(now + seconds * 1000).toISOString(), now)
    expect([-5, 59, 60, 3599, 3600, 86_399, 86_400, 200_000].map(words)).toEqual([
      'in less than a minute',
      'in less than a minute',
      'in 1 minute',
      'in 59 minutes',
      'in 1 hour',
      'in 23 hours',
      'in 1 day',
      'in 2 days',
    ])
  })
})
