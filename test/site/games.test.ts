/** The games that have live channels, and the page of each: its live channels with their filters, and its latest videos. */
import { expect, test } from 'bun:test'
import { newGame, newLiveChannel } from '../operations/drops/campaigns.ts'
import { goLive, newChannel } from '../operations/helix/channels.ts'
import { newVideo } from '../operations/helix/videos.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

const HTML = { Accept: 'text/html' }
const PAGE = 24
const GAMES_PAGE = 48

async function open({ url }: TestServer, path: string) {
  const response = await fetch(url + path, { headers: HTML, redirect: 'manual' })
  const html = await response.text()
  const main = /<main.*<\/main>/s.exec(html)?.[0] ?? ''
  const links = (pattern: RegExp) => [...main.matchAll(pattern)].map(([, found = '']) => found)
  return {
    status: response.status,
    html,
    text: main.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '),
    games: links(/<li class="poster">.*?href="\/games\/([0-9]+)"/gs),
    viewers: links(/<li class="poster">.*?<p class="quiet small num">([^<]+) watching/gs),
    channels: links(/<h3><a href="\/([a-z0-9_]+)">/g),
    videos: links(/<h3><a href="\/videos\/([0-9]+)">/g),
    next: /rel="next" href="([^"]+)"/.exec(main)?.[1]?.replaceAll('&amp;', '&'),
  }
}

onEachStore('pages of games', { streams: 40 }, server => {
  const play = async (game_id: string, viewer_count: number, language = 'en') => {
    const { id, login } = await newChannel(server())
    await server().control('PATCH', `/channels/${id}`, { game_id, language })
    await goLive(server(), id, { viewer_count })
    return { id, login }
  }

  test('200 all games with live channels, most viewers first, with pictures and totals', async () => {
    const [small, large, none] = [await newGame(server()), await newGame(server()), await newGame(server())]
    await play(small.id, 200_001)
    await play(large.id, 200_001)
    await play(large.id, 999)
    const { status, html, games, viewers } = await open(server(), '/games')
    expect(status).toBe(200)
    expect([games.slice(0, 2), viewers.slice(0, 2)]).toEqual([
      [large.id, small.id],
      ['201K', '200K'],
    ])
    expect(games).not.toContain(none.id)
    const { body } = await server().call({
      path: '/helix/games/top',
      query: { first: 100 },
      token: server().world.client.app_token,
    })
    expect(games).toEqual(body.data.map(({ id }: { id: string }) => id).slice(0, GAMES_PAGE))
    expect(html).toContain(`/images/games/${large.id}-285x380.svg`)
    expect(html).toMatch(/<a href="\/games" aria-current="page">/)
  })

  test('200 links lead through all games, each once, without a script', async () => {
    for (let made = 0; made < GAMES_PAGE; made++) await newLiveChannel(server(), (await newGame(server())).id)
    const seen: string[] = []
    let path: string | undefined = '/games'
    for (let pages = 0; path !== undefined && pages < 5; pages++) {
      const page: Awaited<ReturnType<typeof open>> = await open(server(), path)
      expect(page.status).toBe(200)
      seen.push(...page.games)
      path = page.next
    }
    expect(seen.length).toBeGreaterThan(GAMES_PAGE)
    expect(new Set(seen).size).toBe(seen.length)
    expect((await open(server(), '/games?after=x')).status).toBe(400)
  })

  test('200 the live channels of a game and no other, by language too; links lead through all', async () => {
    const game = await newGame(server())
    const logins: string[] = []
    for (let made = 0; made < PAGE + 2; made++) logins.push((await play(game.id, 100 - made)).login)
    const german = await play(game.id, 1, 'de')
    const first = await open(server(), `/games/${game.id}`)
    expect([first.status, first.channels]).toEqual([200, logins.slice(0, PAGE)])
    expect(first.text).toContain(game.name)
    expect(first.next).toStartWith(`/games/${game.id}?after=`)
    const second = await open(server(), first.next ?? '')
    expect(second.channels).toEqual([...logins.slice(PAGE), german.login])
    expect((await open(server(), `/games/${game.id}?language=de`)).channels).toEqual([german.login])
    const none = await open(server(), `/games/${game.id}?language=xx`)
    expect([none.channels, none.html.includes(`<a href="/games/${game.id}">All live channels`)]).toEqual([
      [],
      true,
    ])
  })

  test('200 its latest videos that have ended, newest first, with their channels; those of suspended users are left out', async () => {
    const game = await newGame(server())
    const empty = await open(server(), `/games/${game.id}`)
    expect([empty.status, empty.videos]).toEqual([200, []])
    expect(empty.text).toContain('There are no videos')
    const now = server().strand.services.clock.now()
    const [one, other, away] = [
      await newChannel(server()),
      await newChannel(server()),
      await newChannel(server()),
    ]
    const made = async (channel: { id: string }, hours: number, game_id = game.id) =>
      newVideo(server(), { user_id: channel.id, started: now - hours * 3_600_000, game_id })
    const oldest = await made(one, 72)
    const middle = await made(other, 48)
    await made(away, 24)
    await made(one, 12, (await newGame(server())).id)
    const newest = await made(other, 3)
    await server().control('PUT', `/users/${away.id}/suspension`, {})
    const { videos, html, text, channels } = await open(server(), `/games/${game.id}`)
    expect([videos, channels]).toEqual([[newest, middle, oldest], []])
    expect(html).toContain(`<a href="/${one.login}">`)
    expect(text).toContain('3 hours ago')
    expect(html).toMatch(/<time datetime="[^"]+" title="[0-9: -]+ UTC">3 days ago<\/time>/)
    expect(text).toContain('No channel is live with this game')
  })

  test('404 an unknown game, whatever its form', async () => {
    for (const id of ['1', '999999999999', '0', '-1', 'tidefall', '%00', '1.5', 'x'.repeat(300)]) {
      const { status, html } = await open(server(), `/games/${id}`)
      expect([id, status, html.includes('href="/games"')]).toEqual([id, 404, true])
    }
    for (const path of ['/games/', '/games/1/2']) expect((await open(server(), path)).status).toBe(404)
  })
})
