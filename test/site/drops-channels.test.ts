/** Channels that count for drops: a badge on their cards, a filter of the list, and what pages ask about new cards (D-233). */
import { beforeAll, expect, test } from 'bun:test'
import { DropsChannels } from '../../src/site/scripts/drops-channels.ts'
import {
  deleteCampaignOfWorld,
  newGame,
  newLiveChannel,
  publishedCampaign,
} from '../operations/drops/campaigns.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

const BADGE = '<span class="badge with-drops">Drops</span>'

async function open({ url }: TestServer, path: string) {
  const response = await fetch(url + path, { headers: { Accept: 'text/html' } })
  const html = await response.text()
  const cards = [...html.matchAll(/<li class="card">.*?<\/li>/gs)].map(([card]) => ({
    login: /<h3><a href="\/([a-z0-9_]+)"/.exec(card)?.[1] ?? '',
    hasBadge: card.includes(BADGE),
  }))
  return {
    status: response.status,
    html,
    cards,
    text: html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '),
    logins: cards.map(({ login }) => login),
    badges: cards.filter(({ hasBadge }) => hasBadge).map(({ login }) => login),
    next: /rel="next" href="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&'),
  }
}

onEachStore('channels that count for drops', { streams: 60 }, server => {
  beforeAll(() => deleteCampaignOfWorld(server()))

  const stop = ({ id }: { id: string }) => server().control('POST', `/campaigns/${id}/stop`)
  const liveWith = async (game_id: string, count: number) => {
    const channels = []
    for (let made = 0; made < count; made++) channels.push(await newLiveChannel(server(), game_id))
    return channels
  }
  const loginsOf = (channels: readonly { login: string }[]) => channels.map(({ login }) => login).sort()

  test('200 without a campaign there is neither a badge nor a filter; the filter by hand finds nothing', async () => {
    const home = await open(server(), '/')
    expect([home.status, home.html.includes(BADGE), home.html.includes('drops=1')]).toEqual([
      200,
      false,
      false,
    ])
    const none = await open(server(), '/?drops=1')
    expect([none.status, none.logins]).toEqual([200, []])
    expect(none.text).toContain('counts for drops right now')
    for (const other of ['0', 'yes', '%3Cb%3E'])
      expect((await open(server(), `/?drops=${other}`)).logins.length).toBe(24)
  })

  test('200 all channels of the game have the badge, and the filter lists them and no other', async () => {
    const game = await newGame(server())
    const [own, others] = [await liveWith(game.id, 3), await liveWith((await newGame(server())).id, 1)]
    const campaign = await publishedCampaign(server(), { game_id: game.id })
    const { html, logins, badges, text } = await open(server(), '/?drops=1')
    expect([logins.toSorted(), badges.toSorted()]).toEqual([loginsOf(own), loginsOf(own)])
    expect(text).toContain('Channels with drops')
    // Links keep the filter.
    expect(html).toContain(`href="/games/${game.id}?drops=1"`)
    expect((await open(server(), `/games/${game.id}?drops=1`)).badges.length).toBe(3)
    expect((await open(server(), `/games/${others[0].game_id}?drops=1`)).logins).toEqual([])
    expect((await open(server(), '/?drops=1&language=xx')).logins).toEqual([])
    const found = await open(server(), `/?q=${own[0].login}`)
    expect([found.logins, found.badges]).toEqual([[own[0].login], [own[0].login]])
    expect((await open(server(), '/')).html).toContain('href="/?drops=1"')
    await stop(campaign)
    expect((await open(server(), `/?q=${own[0].login}`)).badges).toEqual([])
  })

  test('200 of listed channels only those have the badge that play the game; pages reach all of them', async () => {
    const game = await newGame(server())
    const channels = await liveWith(game.id, 30)
    const away = await newLiveChannel(server(), (await newGame(server())).id)
    const listed = channels.slice(28)
    const channel_ids = [...listed, away].map(({ id }) => id)
    const campaign = await publishedCampaign(server(), { game_id: game.id, channels: 'listed', channel_ids })
    const seen: string[] = []
    for (let path: string | undefined = '/?drops=1'; path !== undefined; ) {
      const page: Awaited<ReturnType<typeof open>> = await open(server(), path)
      expect(page.badges).toEqual(page.logins)
      seen.push(...page.logins)
      path = page.next
    }
    expect(seen.toSorted()).toEqual(loginsOf(listed))
    const ids = [...channels, away].map(({ id }) => id)
    const ask = async (user_ids: string) =>
      (await fetch(`${server().url}/site/drops-channels?user_ids=${user_ids}`)).json()
    expect(await ask(ids.join())).toEqual({ user_ids: listed.map(({ id }) => id) })
    for (const odd of ['', ',', '0', 'x,%3Cb%3E,__proto__'])
      expect([odd, await ask(odd)]).toEqual([odd, { user_ids: [] }])
    await stop(campaign)
    expect(await ask(ids.join())).toEqual({ user_ids: [] })
  })
})

test('a page asks once about each channel and game, and only about games with a campaign', async () => {
  const asked: string[] = []
  const before = globalThis.fetch
  globalThis.fetch = (async (path: string) => {
    asked.push(path)
    if (asked.length === 3) throw new TypeError('no network')
    return Response.json({ user_ids: ['2'] })
  }) as unknown as typeof fetch
  try {
    const stream = (user_id: string, game_id = 'reef') => ({ user_id, game_id })
    const drops = new DropsChannels({ games: ['reef'], channels: ['1'] }, [stream('1'), stream('9')])
    expect([drops.has(stream('1')), drops.has(stream('9')), drops.has(stream('2'))]).toEqual([
      true,
      false,
      false,
    ])
    await drops.ask(['1', '2', '3', '9'].map(id => stream(id)))
    await drops.ask([stream('2'), stream('3'), stream('4', 'other')])
    expect(asked).toEqual(['/site/drops-channels?user_ids=2,3'])
    expect([drops.has(stream('2')), drops.has(stream('3')), drops.has(stream('4', 'other'))]).toEqual([
      true,
      false,
      false,
    ])
    // Very many at a time, and a failure.
    await drops.ask(Array.from({ length: 150 }, (_, at) => stream(String(at + 1000))))
    expect(asked.length).toBe(3)
    expect(asked.slice(1).map(path => path.split(',').length)).toEqual([100, 50])
  } finally {
    globalThis.fetch = before
  }
})
