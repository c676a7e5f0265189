/** The page of a channel: what plays, what everyone may see, and which paths are no channels. */
import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { Glob } from 'bun'
import { operations } from '../../src/contract/index.ts'
import { sendHeartbeat } from '../../src/contract/playback/send-heartbeat.ts'
import { isReservedName } from '../../src/domain/reserved-names.ts'
import { islandScripts } from '../../src/site/build/assets.ts'
import { REASONS } from '../../src/site/components/drops-reasons.ts'
import { PAGES } from '../../src/site/pages.ts'
import { pageHeaders } from '../../src/site/render/headers.ts'
import { newUser } from '../operations/control/operator.ts'
import {
  newBenefit,
  newViewer as newDropsViewer,
  newGame,
  newLiveChannel as newLiveChannelWith,
  publishedCampaign,
} from '../operations/drops/campaigns.ts'
import { goLive, goOffline, newChannel, newLiveChannel } from '../operations/helix/channels.ts'
import { newVideo } from '../operations/helix/videos.ts'
import { loggedIn } from '../support/browser/consent.ts'
import { Person } from '../support/browser/person.ts'
import { RtmpClient } from '../support/media/rtmp-client.ts'
import { onEachStore } from '../support/server/each-store.ts'
import type { TestServer } from '../support/server.ts'

const HTML = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

async function open({ url }: TestServer, path: string, headers: Record<string, string> = HTML) {
  const response = await fetch(url + path, { redirect: 'manual', headers })
  const html = await response.text()
  const text = html
    .replace(/<style>.*?<\/style>/s, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
  return { status: response.status, headers: response.headers, html, text }
}

/** The properties of the player on a page. */
function readPlayer(html: string): Record<string, unknown> {
  const [, props = ''] = /data-island="player" data-props="([^"]*)"/.exec(html) ?? []
  return JSON.parse(props.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&'))
}

const config = { rtmpListen: { host: '127.0.0.1', port: 0 }, reconnectGraceSeconds: 30 }

onEachStore('the page of a channel', { config }, server => {
  /** Goes live on the embedded media server. */
  async function publish({ id, token }: { id: string; token: string }): Promise<RtmpClient> {
    const answer = await server().call({ path: `/helix/streams/key?broadcaster_id=${id}`, token })
    const client = await RtmpClient.connect(server().strand.rtmpPort ?? 0)
    expect(await client.publish(answer.body.data[0].stream_key)).toBe('NetStream.Publish.Start')
    return client
  }

  const askForBroadcast = async (user_id: string) => {
    const { status, headers, html } = await open(
      server(),
      `/site/broadcast?user_id=${encodeURIComponent(user_id)}`,
      { Accept: 'application/json' },
    )
    expect([status, headers.get('content-type')]).toEqual([200, 'application/json'])
    return JSON.parse(html).broadcast
  }

  test('200 offline: the name and the last videos, newest first; no script', async () => {
    const { id, login } = await newChannel(server())
    const started = Date.parse('2026-03-01T12:00:00Z')
    const first = await newVideo(server(), { user_id: id, title: 'Night dive', started, seconds: 3723 })
    const second = await newVideo(server(), { user_id: id, title: 'Low tide', started: started + 86_400_000 })
    const { status, headers, html, text } = await open(server(), `/${login.toUpperCase()}`)
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    expect(html).toContain(`<title>${login} · Strand</title>`)
    for (const fact of ['Offline · last live', 'Night dive', '1:02:03', 'Low tide', '1:00'])
      expect(text).toContain(fact)
    // The end of the last one, and the start of the one before.
    expect(html).toMatch(/<time datetime="2026-03-02T12:01:00Z" title="2026-03-02 12:01 UTC">\d+ \w+ ago</)
    expect(html).toContain('title="2026-03-01 12:00 UTC"')
    expect(html.indexOf(`/videos/${second}"`)).toBeLessThan(html.indexOf(`/videos/${first}"`))
    expect(html).toContain(`<a class="screen last-broadcast" href="/videos/${second}">`)
    expect(html.split(`href="/videos/${second}"`)).toHaveLength(2)
    expect(html).not.toContain('<script')
    expect(headers.get('content-security-policy')).not.toContain('script-src')
    expect(headers.has('set-cookie')).toBe(false)
  })

  test('200 offline: the last broadcast has a play button if its page plays it', async () => {
    const { id, login } = await newChannel(server())
    const video = await newVideo(server(), { user_id: id, title: 'Night dive', seconds: 100 })
    const { store } = server().strand.services
    const shown = async () => (await open(server(), `/${login}`)).html
    expect(await shown()).not.toContain('class="play"')
    await store.commands.noteRecording({ video_id: video, url: 'https://media-2.example/a.flv' })
    expect(await shown()).not.toContain('class="play"')
    await store.commands.noteRecording({ video_id: video, url: 'https://media-2.example/a.mp4' })
    expect(await shown()).toContain('class="play"')
    expect(await shown()).toContain('Watch the last broadcast')
  })

  test('200 never live: a friendly sentence, the description, and who is live now', async () => {
    const { id, login } = await newChannel(server())
    await server().execute(`update users set description = 'Slow games at night.' where id = '${id}'`)
    const { html, text } = await open(server(), `/${login}`)
    for (const fact of ['No broadcast yet', 'Follow the channel', 'About Slow games at night.', 'Live now'])
      expect(text).toContain(fact)
    expect(html).not.toContain('last-broadcast')
    expect(text).not.toContain('last live')
    const person = await loggedIn(server())
    await person.holdSession(id)
    person.headers = HTML
    expect((await person.open(`/${login}`)).html).toContain(
      '<a href="/studio">studio</a> has what your encoder',
    )
  })

  test('200 offline with one video: who is live now below it, until there are more videos', async () => {
    const { id, login } = await newChannel(server())
    await newVideo(server(), { user_id: id, title: 'The first one' })
    const { text } = await open(server(), `/${login}`)
    for (const fact of ['The first one', 'Live now']) expect(text).toContain(fact)
    await newVideo(server(), { user_id: id, title: 'The second one' })
    const { text: later } = await open(server(), `/${login}`)
    expect([later.includes('More videos'), later.includes('Live now')]).toEqual([true, false])
  })

  test('200 the name of the channel appears once', async () => {
    const { id, login } = await newChannel(server())
    await newVideo(server(), { user_id: id, title: 'Night dive' })
    for (const title of [undefined, 'Reef at dawn', '']) {
      if (title !== undefined) {
        await server().strand.services.store.commands.changeChannel({ user_id: id, title, video_id: '0' })
        await goLive(server(), id)
      }
      const { html } = await open(server(), `/${login}`)
      const [, main = ''] = /<main[^>]*>(.*)<nav class="channel-bar"/s.exec(html) ?? []
      const names = main.replaceAll(/<[^>]+>/g, ' ').match(new RegExp(`${login}\\b`, 'gi')) ?? []
      expect([title, names.length]).toEqual([title, 1])
      if (title !== undefined) await goOffline(server(), id)
    }
  })

  test('200 share: the whole URL of the page in a field, of a video also the moment that the link points to', async () => {
    const { id, login } = await newChannel(server())
    const { publicUrl } = server().strand.services
    const field = (link: string) =>
      new RegExp(`<input id="share-(?:link|moment)" readonly value="${link}"/?>`, 'i')
    const video = await newVideo(server(), { user_id: id, title: 'Night dive', seconds: 1000 })
    const escaped = (path: string) => `${publicUrl}${path}`.replaceAll(/[.?]/g, '\\$&')
    for (const path of [`/${login}`, `/videos/${video}`])
      expect((await open(server(), path)).html).toMatch(field(escaped(path)))
    expect((await open(server(), `/videos/${video}`)).html).toMatch(
      /<div class="field" hidden><label for="share-moment">/,
    )
    const still = await open(server(), `/videos/${video}?t=244`)
    expect(still.html).toMatch(field(escaped(`/videos/${video}?t=244s`)))
    await server().strand.services.store.commands.noteRecording({ video_id: video, url: '' })
    const { html, text } = await open(server(), `/videos/${video}?t=4m4s`)
    expect(html).toMatch(field(escaped(`/videos/${video}?t=244s`)))
    expect(text).toContain('Link that starts at 4:04')
    await goLive(server(), id)
    expect((await open(server(), `/${login}`)).html).toMatch(field(escaped(`/${login}`)))
    await goOffline(server(), id)
  })

  test('200 beside it, the channels that a person follows, live ones first; never too many', async () => {
    const shownIn = (html: string) => {
      const [, bar = ''] = /<nav class="channel-bar"[^>]*>(.*?)<\/nav>/s.exec(html) ?? []
      const [followed = '', others = ''] = bar.split('<h2>Live channels</h2>')
      const linked = (part: string) => [...part.matchAll(/href="\/([^"]+)"/g)].map(([, login = '']) => login)
      return { bar, followed: linked(followed), others: linked(others) }
    }
    const { login, id } = await newLiveChannel(server())
    const visitor = shownIn((await open(server(), `/${login}`)).html)
    expect([visitor.bar.includes('Following'), visitor.followed]).toEqual([false, []])
    expect(visitor.others.length).toBeGreaterThan(5)
    expect(visitor.others.length).toBeLessThanOrEqual(15)
    expect(visitor.others).not.toContain(login)
    const viewer = await newUser(server())
    const person = await loggedIn(server())
    await person.holdSession(viewer.id)
    person.headers = HTML
    const none = shownIn((await person.open(`/${login}`)).html)
    expect(none.followed).toEqual([])
    expect(none.bar).toContain('Channels that you follow are listed here')
    const { store } = server().strand.services
    const rows: { id: string }[] = await server().control('GET', '/users?first=100')
    const follows = rows
      .filter(each => each.id !== viewer.id)
      .map(each => ({ user_id: viewer.id, broadcaster_id: each.id }))
    const offline = await newUser(server())
    await store.commands.putFollows({
      follows: [{ user_id: viewer.id, broadcaster_id: offline.id }],
      now: Date.now(),
    })
    await store.commands.putFollows({
      follows: [{ user_id: viewer.id, broadcaster_id: id }],
      now: Date.now(),
    })
    const two = shownIn((await person.open('/')).html)
    expect(two.followed).toEqual([])
    const shown = shownIn((await person.open(`/${login}`)).html)
    expect(shown.followed).toEqual([login, offline.login])
    expect(shown.bar).toMatch(/class="offline".*Offline/s)
    await store.commands.putFollows({ follows, now: Date.now() })
    const many = shownIn((await person.open(`/${login}`)).html)
    expect(many.followed).toHaveLength(12)
    expect(many.others.length).toBeLessThanOrEqual(3)
    const places = await Promise.all(
      many.followed.map(
        async each =>
          (await store.streams.of((await store.users.activeWithLogin(each))?.id ?? '')) === undefined,
      ),
    )
    expect(places).toEqual(places.toSorted((a, b) => Number(a) - Number(b)))
  })

  test('200 live on the embedded media server: a player, also in the reconnect grace, then none', async () => {
    const channel = await newChannel(server(), ['channel:read:stream_key'])
    const { store } = server().strand.services
    await store.commands.changeChannel({ user_id: channel.id, title: 'Reef <at> dawn', video_id: '0' })
    const client = await publish(channel)
    const { path } = await islandScripts('player')
    for (const isPublishing of [true, false]) {
      if (!isPublishing) {
        client.close()
        while ((await askForBroadcast(channel.id)).isOnAir) await Bun.sleep(20)
      }
      const { headers, html, text } = await open(server(), `/${channel.login}`)
      const source = `/live/${channel.login}.m3u8`
      const broadcast = { source, isOnAir: isPublishing, recording: null, origin: null }
      expect(readPlayer(html).broadcast).toEqual(broadcast)
      expect(await askForBroadcast(channel.id)).toEqual(broadcast)
      expect(html).toContain(`<script type="module" src="${path}"></script>`)
      for (const fact of ['Reef &lt;at> dawn', channel.login, 'Viewers 0', 'Uptime 0:'])
        expect(text).toContain(fact)
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; connect-src 'self'[^;]*; media-src 'self' blob:; style-src 'self'; font-src 'self'; img-src 'self' data:; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'$/,
      )
    }
    await server().control('DELETE', `/channels/${channel.id}/stream`)
    expect((await open(server(), `/${channel.login}`)).html).not.toContain('data-player')
    expect(await askForBroadcast(channel.id)).toBeNull()
  })

  test('200 the status of a broadcast that runs, is away, moves to another node, or does not exist', async () => {
    const { store } = server().strand.services
    const { id, login } = await newChannel(server())
    const id1 = { adapter: 'embedded', server: 'node-1', session: 'a' }
    const id2 = { adapter: 'embedded', server: 'node-2', session: 'b' }
    const ids = { user_id: id, stream_id: `7${id}`, video_id: `8${id}` }
    const source = `/live/${login}.m3u8`
    await store.commands.openSession({
      ...id1,
      ...ids,
      watch_url: 'https://media-1.example',
      now: Date.now(),
    })
    const origin = 'https://media-1.example'
    expect(await askForBroadcast(id)).toEqual({ source, isOnAir: true, recording: null, origin })
    await store.commands.noteRecording({ video_id: `8${id}`, url: origin })
    const recording = `/videos/8${id}.m3u8`
    expect(await askForBroadcast(id)).toEqual({ source, isOnAir: true, recording, origin })
    await store.commands.closeSession({ ...id1, now: Date.now() })
    expect(await askForBroadcast(id)).toEqual({ source, isOnAir: false, recording, origin })
    const other = 'https://media-2.example'
    await store.commands.openSession({ ...id2, ...ids, watch_url: other, now: Date.now() })
    expect(await askForBroadcast(id)).toEqual({ source, isOnAir: true, recording, origin: other })
    const { headers } = await open(server(), `/${login}`)
    expect(headers.get('content-security-policy')).toContain(
      `connect-src 'self' ${other}; media-src 'self' blob: ${other};`,
    )
    await store.commands.closeSession({ ...id2, now: Date.now() })
    await server().control('DELETE', `/channels/${id}/stream`)
    for (const user_id of [id, '999', '', 'x', "'"]) expect(await askForBroadcast(user_id)).toBeNull()
  })

  test('200 a running video plays what is recorded of it, if it is', async () => {
    const { store } = server().strand.services
    const { id, login } = await newChannel(server())
    const session = { adapter: 'embedded', server: 'local', session: `running-${id}` }
    const ids = { user_id: id, stream_id: `7${id}`, video_id: `8${id}`, watch_url: null }
    await store.commands.openSession({ ...session, ...ids, now: Date.now() - 100_000 })
    const path = `/videos/8${id}`
    expect((await open(server(), path)).html).not.toContain('data-player')
    await store.commands.noteRecording({ video_id: `8${id}`, url: '' })
    const { html, text } = await open(server(), `${path}?t=0h1m2s`)
    const { broadcast, start, seconds } = readPlayer(html)
    expect(broadcast).toMatchObject({ source: `/live/${login}.m3u8`, recording: `${path}.m3u8` })
    expect([start, Number(seconds) >= 99]).toEqual([62, true])
    expect(text).toContain('Duration so far 1:')
    // The channel shares what is live now as a moment of that video.
    const { publicUrl } = server().strand.services
    const shared = (await open(server(), `/${login}`)).html
    const [, link, moment] = /id="share-moment" readonly value="([^"]+)\?t=(\d+)s"/i.exec(shared) ?? []
    expect([link, Number(moment) >= 99]).toEqual([publicUrl + path, true])
    await store.commands.closeSession({ ...session, now: Date.now() })
    await server().control('DELETE', `/channels/${id}/stream`)
    expect((await open(server(), `/${login}`)).html).not.toContain('share-moment')
    expect(readPlayer((await open(server(), path)).html)).toMatchObject({ recording: `${path}.mp4` })
  })

  test('200 live on a media server with a playback URL: a player for it, and its origin in the policy', async () => {
    const { store } = server().strand.services
    const startAt = Date.now()
    for (const [name, playback_url, source, origin] of [
      [
        'far',
        'https://media.example.org:8443/hls/{login}.m3u8',
        'https://media.example.org:8443/hls/',
        ' https://media.example.org:8443',
      ],
      ['near', '/hls/{login}.m3u8', '/hls/', ''],
    ] as const) {
      const { id, login } = await newChannel(server())
      await server().control('PUT', `/media-servers/${name}`, { adapter: 'generic', playback_url })
      const session = { adapter: 'generic', server: name, session: 'a' }
      const ids = { user_id: id, stream_id: `7${id}`, video_id: `8${id}`, watch_url: null }
      await store.commands.openSession({ ...session, ...ids, now: startAt })
      for (const isPublishing of [true, false]) {
        if (!isPublishing) await store.commands.closeSession({ ...session, now: startAt + 1000 })
        const { headers, html, text } = await open(server(), `/${login}`)
        const { broadcast, channel } = readPlayer(html)
        expect(broadcast).toEqual({
          source: `${source}${login}.m3u8`,
          isOnAir: isPublishing,
          recording: null,
          origin: origin.trim() || null,
        })
        expect(channel).toEqual({ id, login })
        expect(text).not.toContain('does not play on this page')
        expect(headers.get('content-security-policy')).toBe(
          `default-src 'none'; script-src 'self'; connect-src 'self'${origin}; media-src 'self' blob:${origin}; style-src 'self'; font-src 'self'; img-src 'self' data:; manifest-src 'self'; frame-ancestors 'none'; base-uri 'none'`,
        )
      }
      await server().control('PUT', `/media-servers/${name}`, { adapter: 'generic', playback_url: null })
      const without = await open(server(), `/${login}`)
      expect(without.text).toContain('does not play on this page')
      expect(without.headers.get('content-security-policy')).not.toContain('media.example')
      await server().control('DELETE', `/media-servers/${name}`)
    }
  })

  test('200 live elsewhere: no player, and a sentence about it', async () => {
    const { login } = await newLiveChannel(server())
    const { status, html, text } = await open(server(), `/${login}`)
    expect([status, html.includes('data-player')]).toEqual([200, false])
    expect(html).not.toContain((await islandScripts('player')).path)
    expect(text).toContain('does not play on this page')
  })

  test('404 a page for browsers, the error of the API for everyone else', async () => {
    const { login } = await newChannel(server())
    const missing = await open(server(), '/no_such_channel')
    expect([missing.status, missing.text.includes('Channel not found')]).toEqual([404, true])
    for (const headers of [{ Accept: 'application/json' }, { Accept: '*/*' }]) {
      const { status, html } = await open(server(), '/no_such_channel', headers)
      expect([status, JSON.parse(html).status]).toEqual([404, 404])
    }
    expect((await open(server(), `/${login}`, { Accept: '*/*' })).status).toBe(200)
    expect((await open(server(), `/${login}`, { Accept: 'application/json' })).status).toBe(404)
    for (const path of ['/a.b', '/%00', `/${'x'.repeat(26)}`, '/%C3%A9', `/${login}/`, `/${login}/x`])
      expect([path, (await open(server(), path)).status]).toEqual([path, 404])
  })

  test('a reserved name is never a channel, even if a user has it', async () => {
    const { id } = await newChannel(server())
    await server().execute(`update users set login = 'terms' where id = '${id}'`)
    await server().settle()
    const { status, text } = await open(server(), '/terms')
    expect([status, text.includes('Page not found')]).toEqual([404, true])
    await server().execute(`update users set login = 'made_for_terms' where id = '${id}'`)
  })

  test('302 follow and unfollow, by form; the page counts followers', async () => {
    const channel = await newChannel(server())
    const path = `/${channel.login}`
    const visitor = await open(server(), path)
    expect(visitor.text).toContain('0 followers')
    expect(visitor.html).toContain(`href="/login?next=${path}"`)
    const person = await loggedIn(server())
    person.headers = HTML
    await person.open(path)
    const followed = await person.post('/follow')
    expect([followed.status, followed.location]).toEqual([302, path])
    const shown = await person.open(path)
    expect(shown.html).toContain('1 follower<')
    expect(shown.html).toContain('>Following</button>')
    const { login } = server().world.broadcaster
    const [{ id }] = await server().control('GET', `/users?login=${login}`)
    const listed = await server().strand.services.store.follows.of(id)
    expect(listed).toContain(channel.id)
    await person.post('/follow')
    expect((await person.open(path)).html).toContain('0 followers')
    const { fields } = shown.forms.find(form => form.action === '/follow') ?? { fields: {} }
    const toSelf = { ...fields, login, decision: 'follow' }
    expect((await person.postRaw('/follow', toSelf, { Origin: server().url })).status).toBe(400)
    const toNone = { ...fields, login: 'no_such_channel', decision: 'follow' }
    expect((await person.postRaw('/follow', toNone, { Origin: server().url })).status).toBe(404)
    expect((await person.open(`/${login}`)).html).toContain('href="/studio">Open the studio')
  })

  test('409 beyond 2,000 followed channels', async () => {
    const channel = await newChannel(server())
    const person = await loggedIn(server(), server().world.users[1]?.login)
    person.headers = HTML
    await person.open(`/${channel.login}`)
    const user_id = server().world.users[1]?.id
    await server().execute(`delete from follow_counts where user_id = '${user_id}'`)
    await server().execute(
      `insert into follow_counts (user_id, following, followers) values ('${user_id}', 2000, 0)`,
    )
    const refused = await person.post('/follow')
    expect([refused.status, refused.html.includes('You follow too many channels')]).toEqual([409, true])
  })

  test('404 a path without a page leads on, for browsers only', async () => {
    const { status, html } = await open(server(), '/no/such/page')
    expect([status, html.includes('href="/">See who is live')]).toEqual([404, true])
    const program = await open(server(), '/no/such/page', { Accept: '*/*' })
    expect([program.status, JSON.parse(program.html).status]).toEqual([404, 404])
  })

  test('200 a recorded video has a player that starts where the link points to; others do not', async () => {
    const { id } = await newChannel(server())
    const video = await newVideo(server(), { user_id: id, title: 'Night dive', seconds: 100 })
    expect((await open(server(), `/videos/${video}`)).html).not.toContain('data-player')
    await server().strand.services.store.commands.noteRecording({
      video_id: video,
      url: 'https://media-2.example',
    })
    const { html, headers } = await open(server(), `/videos/${video}?t=0h1m2s`)
    expect(readPlayer(html)).toMatchObject({ recording: `/videos/${video}.mp4`, start: 62, seconds: 100 })
    expect(html).toContain('max="100" step="1" value="62"')
    expect(headers.get('content-security-policy')).toContain(
      "connect-src 'self' https://media-2.example; media-src 'self' blob: https://media-2.example;",
    )
  })

  test('200 a file of another media server plays if browsers play its kind', async () => {
    const { id } = await newChannel(server())
    for (const [name, plays] of [
      ['a.mp4', true],
      ['a.webm', true],
      ['a.M3U8', true],
      ['a.flv', false],
      ['a.mkv', false],
    ] as const) {
      const video = await newVideo(server(), { user_id: id, title: 'Night dive', seconds: 100 })
      const url = `https://media-2.example/recordings/${name}`
      await server().strand.services.store.commands.noteRecording({ video_id: video, url })
      const { html } = await open(server(), `/videos/${video}`)
      expect([name, html.includes('data-player')]).toEqual([name, plays])
      if (plays) expect(readPlayer(html).recording).toBe(url)
      else expect(html).toContain(`<a href="${url}">Download the recording</a>`)
    }
  })

  test('200 markers are pins on the timeline, with their text, for every visitor', async () => {
    const owner = await newChannel(server())
    const editor = await newChannel(server())
    const other = await newChannel(server())
    await server().control('PUT', `/channels/${owner.id}/editors/${editor.id}`)
    await goLive(server(), owner.id)
    for (const description of ['the <b>jump</b>', 'the end'])
      await server().call({
        method: 'POST',
        path: '/helix/streams/markers',
        token: owner.token,
        body: { user_id: owner.id, description },
      })
    await goOffline(server(), owner.id)
    const { store } = server().strand.services
    const { rows } = await store.videos.listed(
      { user_id: owner.id, sort: 'time' },
      { first: 1, direction: 'forward' },
    )
    const video_id = rows[0]?.id ?? ''
    await store.commands.noteRecording({ video_id, url: '' })
    const path = `/videos/${video_id}`
    const seenBy = async (id: string) => {
      const person = new Person(server())
      person.headers = HTML
      await person.holdSession(id)
      return (await person.open(path)).html
    }
    for (const html of [
      await seenBy(owner.id),
      await seenBy(editor.id),
      await seenBy(other.id),
      (await open(server(), path)).html,
    ]) {
      expect(html).toContain('the &lt;b>jump&lt;/b>')
      expect(html).toMatch(/data-pin="[0-9]+" data-seek="[0-9]+" data-text="the end"/)
      expect(html).toMatch(new RegExp(`href="${path}\\?t=0h0m[0-9]+s" data-seek="[0-9]+"`))
    }
  })
})

onEachStore('drops on the page of a channel', { config }, server => {
  /** The part of the page about drops: its HTML, and the properties of the island. */
  const readDrops = (html: string) => {
    const [part = '', props = ''] =
      /data-island="channel-drops" data-props="([^"]*)".*?<\/section>/s.exec(html) ?? []
    const text = part.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
    const plain = props.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&amp;', '&')
    return { part, text, props: plain === '' ? undefined : JSON.parse(plain) }
  }
  const publish = async ({ id }: { id: string }) => {
    const [{ stream_key }] = await server().control('GET', `/channels/${id}/stream-key`)
    const client = await RtmpClient.connect(server().strand.rtmpPort ?? 0)
    expect(await client.publish(stream_key)).toBe('NetStream.Publish.Start')
    return client
  }
  const seenBy = async (user_id: string | undefined, login: string) => {
    const person = new Person(server())
    person.headers = HTML
    if (user_id !== undefined) await person.holdSession(user_id)
    const { html } = await person.open(`/${login}`)
    return { ...readDrops(html), html, person }
  }

  test('200 campaign, bar and claim form of the viewer; a way to log in for others; nothing without a campaign', async () => {
    const benefit = await newBenefit(server(), { name: 'Red <i>kite</i>' })
    const drop = { id: crypto.randomUUID(), name: 'First', required_minutes: 5, benefit_ids: [benefit.id] }
    const campaign = await publishedCampaign(server(), { name: 'Reef <b>week</b>', drops: [drop] })
    const channel = await newLiveChannelWith(server(), campaign.game_id)
    const viewer = await newDropsViewer(server(), campaign, 2)
    const stranger = await seenBy(undefined, channel.login)
    expect(stranger.text).toContain('Log in to earn drops while you watch.')
    expect(stranger.part).toContain(`href="/login?next=/${channel.login}"`)
    expect(stranger.part).not.toContain('action="/drops"')
    const early = await seenBy(viewer.id, channel.login)
    expect(early.part).toContain('Reef &lt;b>week&lt;/b>')
    expect(early.part).toContain('aria-valuetext="2 of 5 minutes"')
    expect(early.text).toContain('3 minutes left')
    expect(early.part).not.toContain('action="/drops"')
    await server().control('POST', `/campaigns/${campaign.id}/viewers/${viewer.id}/minutes`, { add: 3 })
    const { part, person } = await seenBy(viewer.id, channel.login)
    expect(part).toContain('Red &lt;i>kite&lt;/i>')
    const claimed = await person.submit('/drops')
    expect(claimed.html).toContain('You earned Red &lt;i>kite&lt;/i>.')
    expect((await seenBy(viewer.id, channel.login)).text).toContain('Claimed')
    const other = await newLiveChannelWith(server(), (await newGame(server())).id)
    expect((await seenBy(viewer.id, other.login)).props).toBeUndefined()
    await server().control('POST', `/campaigns/${campaign.id}/stop`)
    expect((await seenBy(viewer.id, channel.login)).props).toBeUndefined()
  })

  test('200 the reason in a sentence where nothing counts, before the first heartbeat', async () => {
    const game = await newGame(server())
    const [listed, unlisted, away] = await Promise.all([
      newUser(server()),
      newLiveChannelWith(server(), game.id),
      newLiveChannelWith(server(), (await newGame(server())).id),
    ])
    await server().control('PATCH', `/channels/${listed.id}`, { game_id: game.id })
    const client = await publish(listed)
    const channel_ids = [listed.id, away.id]
    await publishedCampaign(server(), { game_id: game.id, channels: 'listed', channel_ids })
    const viewer = await newDropsViewer(server())
    const reasons: [string | undefined, string, string | undefined, string][] = [
      [viewer.id, listed.login, undefined, 'Minutes count while the video plays.'],
      [listed.id, listed.login, 'own_channel', 'You cannot earn drops on your own channel.'],
      [viewer.id, unlisted.login, 'channel_not_listed', 'This campaign counts on other channels only.'],
      [viewer.id, away.login, 'not_playing_the_game', 'while the channel plays the game of the campaign.'],
    ]
    for (const [user_id, login, reason, sentence] of reasons) {
      const { props, text } = await seenBy(user_id, login)
      expect([login, props.reason, text.includes(sentence)]).toEqual([login, reason, true])
    }
    // Without a player there are no heartbeats.
    const elsewhere = await newLiveChannelWith(server(), game.id)
    await server().control('PUT', `/campaigns/${(await campaignsOf(game.id))[0].id}`, {
      channel_ids: [...channel_ids, elsewhere.id],
    })
    expect((await seenBy(viewer.id, elsewhere.login)).props.reason).toBe('plays_elsewhere')
    client.close()
  })

  test('200 the player of a viewer who is logged in sends heartbeats, whatever the channel', async () => {
    const channel = await newUser(server())
    const client = await publish(channel)
    const viewer = await newDropsViewer(server())
    expect(readPlayer((await seenBy(viewer.id, channel.login)).html).earns).toBe(true)
    expect(readPlayer((await seenBy(undefined, channel.login)).html).earns).toBe(false)
    client.close()
  })

  const campaignsOf = (game_id: string) => server().control('GET', `/campaigns?game_id=${game_id}`)
})

test('every reason of a heartbeat has a sentence', () => {
  const { enum: reasons } = sendHeartbeat.returns.properties.reason as unknown as { enum: string[] }
  expect(reasons.length).toBe(9)
  expect(reasons.filter(reason => !Object.hasOwn(REASONS, reason))).toEqual([])
  expect(new Set(Object.values(REASONS)).size).toBe(Object.keys(REASONS).length)
})

describe('the policy of a page', () => {
  const policyFor = (media: readonly (string | null | undefined)[]) =>
    pageHeaders({ hasScript: true, media })['Content-Security-Policy'] ?? ''

  test('names the origins that have video, each once, for scripts and for the video element (D-264)', () => {
    const [node, bucket] = ['https://media-1.example:8443', 'https://bucket.example']
    const policy = policyFor([
      `${node}/node1`,
      null,
      `${node}/other`,
      undefined,
      '/path',
      '',
      `${bucket}/a/b`,
    ])
    expect(policy).toContain(`connect-src 'self' ${node} ${bucket};`)
    expect(policy).toContain(`media-src 'self' blob: ${node} ${bucket};`)
    expect(policyFor([])).toContain("connect-src 'self'; media-src 'self' blob:;")
    expect(pageHeaders({ hasScript: false })['Content-Security-Policy']).not.toContain('media-src')
  })
})

describe('reserved names', () => {
  test('contain the first segment of every path that the server uses', () => {
    const sources = [...new Glob('src/http/*.ts').scanSync('.')].map(file => readFileSync(file, 'utf8'))
    const paths = [
      ...operations.map(({ path }) => path),
      ...Object.keys(PAGES),
      ...sources.flatMap(source => [...source.matchAll(/['"`](\/[a-z0-9_]+)/g)].map(([, path = '']) => path)),
    ]
    const segments = new Set(
      paths.map(path => path.split('/')[1] ?? '').filter(each => !each.startsWith('{')),
    )
    expect(segments.size).toBeGreaterThan(15)
    expect([...segments].filter(each => /^[a-z0-9_]+$/.test(each) && !isReservedName(each))).toEqual([])
  })
})
