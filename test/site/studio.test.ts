/** The studio (D-156): the broadcaster does everything, editors work on markers, and no one else does anything. */
import { beforeAll, expect, test } from 'bun:test'
import { isoMillis } from '../../src/kit/time/clock.ts'
import { nowOf } from '../operations/control/operator.ts'
import { newGame, publishedCampaign } from '../operations/drops/campaigns.ts'
import { csrfIn, Person } from '../support/browser/person.ts'
import { usingCheapPasswords } from '../support/server/cheap-passwords.ts'
import { onEachStore } from '../support/server/each-store.ts'

usingCheapPasswords()

const HTML = { Accept: 'text/html' }
const SCRIPT = { Accept: 'application/json' }
const PASSWORD = 'a password of theirs'
const DAY = 86_400_000

interface Someone {
  readonly id: string
  readonly login: string
  readonly person: Person
}

const config = { rtmpListen: { host: '127.0.0.1', port: 0 } }

onEachStore('the studio', { config }, server => {
  let [owner, editor, stranger] = [] as unknown as [Someone, Someone, Someone]

  const newSomeone = async (name: string): Promise<Someone> => {
    const login = `${name}_${Math.floor(Math.random() * 1e9)}`
    const [{ id }] = await server().control('POST', '/users', { login, password: PASSWORD })
    const person = new Person(server())
    person.headers = HTML
    await person.browse('/login')
    await person.submit('/login', { login, password: PASSWORD })
    return { id, login, person }
  }
  beforeAll(async () => {
    owner = await newSomeone('owner')
    editor = await newSomeone('editor')
    stranger = await newSomeone('stranger')
    await server().control('PUT', `/channels/${owner.id}/editors/${editor.id}`)
  })

  const studio = () => `/studio/${owner.login}`
  const streamKey = async (id = owner.id): Promise<string> =>
    (await server().control('GET', `/channels/${id}/stream-key`))[0].stream_key
  const channel = async () => (await server().control('GET', `/channels/${owner.id}`))[0]
  const audited = async () =>
    (await server().call({ path: '/control/audit', token: server().world.operator_token })).body.data

  /** What a form of a studio, by default that of the owner, answers to a script of this person. */
  async function send({ person }: Someone, part: string, fields: Record<string, string>, { login } = owner) {
    const csrf = csrfIn((await person.open('/studio')).html)
    person.headers = SCRIPT
    const seen = await person.postRaw(`/studio/${login}/${part}`, { csrf, ...fields }, {})
    person.headers = HTML
    return seen
  }

  /** The owner is live with one marker. */
  async function marked(description = 'the jump') {
    await server().control('PUT', `/channels/${owner.id}/stream`, {})
    expect((await send(editor, 'markers', { decision: 'add', description })).status).toBe(200)
    const [video] = await server().control('GET', `/videos?user_id=${owner.id}`)
    const file = JSON.parse(await text(owner, `${studio()}/markers/export?video_id=${video.id}&format=json`))
    return { video_id: video.id as string, marker_id: file.markers.at(-1).id as string }
  }
  const text = async ({ person }: Someone, path: string) => (await person.open(path)).html
  const descriptions = async ({ video_id }: { video_id: string }) =>
    JSON.parse(await text(owner, `${studio()}/markers/export?video_id=${video_id}&format=json`)).markers.map(
      (marker: { description: string }) => marker.description,
    )

  test('302 without a session: to the log-in, and back', async () => {
    const visitor = new Person(server())
    expect((await visitor.open('/studio')).location).toBe('/login?next=%2Fstudio')
    expect((await visitor.open(studio())).location).toBe(`/login?next=%2Fstudio%2F${owner.login}`)
    const csrf = csrfIn((await visitor.browse('/login')).html)
    const before = await streamKey()
    for (const part of ['channel', 'key', 'markers', 'editors', 'videos']) {
      const fields = { csrf, decision: 'rotate', grace: '0', title: 'Mine', login: stranger.login }
      const seen = await visitor.postRaw(`${studio()}/${part}`, fields, {})
      expect([part, seen.status]).toEqual([part, 302])
      expect(seen.location).toStartWith('/login?next=')
    }
    expect(await streamKey()).toBe(before)
  })

  test('404 no such channel or part, 403 the channel of another user', async () => {
    const { person } = stranger
    for (const path of ['/studio/unheard_of', '/studio/not-a-login', '/studio/%41', '/studio/__proto__'])
      expect([path, (await person.open(path)).status]).toEqual([path, 404])
    for (const path of [`${studio()}/unheard-of`, `${studio()}/key`, `${studio()}/markers/export/more`])
      expect([path, (await person.open(path)).status]).toEqual([path, 404])
    const seen = await person.open(studio())
    expect([seen.status, seen.html.includes('You are not an editor of')]).toEqual([403, true])
    expect((await person.open(`${studio()}/status`)).status).toBe(403)
    expect((await person.open(`${studio()}/markers/export?video_id=1&format=csv`)).status).toBe(403)
  })

  test('200 the page of the owner: everything, and never the stream key', async () => {
    const seen = await owner.person.open('/studio')
    expect(seen.status).toBe(200)
    for (const part of ['Go live', 'Stream', 'Editors', 'Markers', 'Videos', 'You are offline'])
      expect([part, seen.html.includes(part)]).toEqual([part, true])
    expect(seen.html).toContain(`rtmp://localhost:${server().strand.rtmpPort}/live`)
    expect(seen.html).not.toContain(await streamKey())
    expect(seen.html).not.toMatch(/ style=| on[a-z]+="|<script>/)
    expect((await owner.person.open(studio().toUpperCase().replace('STUDIO', 'studio'))).status).toBe(200)
  })

  test('200 the tabs of the owner lead to pages, each marked as the current one; 403 those of others', async () => {
    const tabs = async ({ person }: Someone, path: string) => {
      const { status, html, headers } = await person.open(path)
      const [, nav = ''] = /<nav class="tabs"[^>]*>(.*?)<\/nav>/s.exec(html) ?? []
      const links = [...nav.matchAll(/href="([^"]+)"( aria-current="page")?/g)]
      const current = links.filter(([, , marked]) => marked !== undefined).map(([, href]) => href)
      return { status, html, headers, hrefs: links.map(([, href]) => href), current }
    }
    const paths = [studio(), `${studio()}/videos`, `${studio()}/channel`, `${studio()}/editors`]
    const key = await streamKey()
    for (const path of paths) {
      const { status, html, hrefs, current } = await tabs(owner, path)
      expect([path, status, hrefs, current]).toEqual([path, 200, paths, [path]])
      expect([path, html.includes(key)]).toEqual([path, false])
    }
    expect((await tabs(owner, `${studio()}/editors`)).html).toContain(editor.login)
    expect((await tabs(owner, `${studio()}/channel`)).html).toContain('Stream key')
    expect((await tabs(owner, `${studio()}/videos`)).headers.get('content-security-policy')).not.toContain(
      'script-src',
    )
    for (const path of paths.slice(0, 2)) {
      const { status, hrefs, current } = await tabs(editor, path)
      expect([path, status, hrefs, current]).toEqual([path, 200, paths.slice(0, 2), [path]])
    }
    for (const path of paths.slice(2)) expect([path, (await tabs(editor, path)).status]).toEqual([path, 403])
    for (const path of paths) expect([path, (await tabs(stranger, path)).status]).toEqual([path, 403])
    const visitor = new Person(server())
    for (const path of paths) expect((await visitor.open(path)).location).toStartWith('/login?next=')
  })

  test('200 the channel page has the settings of an encoder and what viewers see; the editors page, who may do what', async () => {
    const channelPage = await text(owner, `${studio()}/channel`)
    for (const part of ['H.264', 'AAC', 'Keyframe interval', `/images/channels/${owner.id}-1280x720.png`])
      expect([part, channelPage.includes(part)]).toEqual([part, true])
    const rows = [...(await text(owner, `${studio()}/editors`)).matchAll(/<th scope="row">(.*?)<\/tr>/gs)]
    const may = new Map(
      rows.map(([, row = '']) => [
        row.replace(/<.*/s, ''),
        [...row.matchAll(/>(yes|no)</g)].map(each => each[1]),
      ]),
    )
    expect([...may.values()].every(([broadcaster]) => broadcaster === 'yes')).toBe(true)
    expect([...may].filter(([, [, editors]]) => editors === 'yes').map(([task]) => task)).toEqual([
      'Watch the preview, and what the encoder sends',
      'Add, rename, delete and export markers',
      'See the list of videos',
    ])
  })

  test('200 while live, the page has no stream key that others might see', async () => {
    await server().control('PUT', `/channels/${owner.id}/stream`, {})
    expect(await text(owner, studio())).not.toContain('data-key')
    expect(await text(owner, `${studio()}/channel`)).toContain('data-key')
    await server().control('DELETE', `/channels/${owner.id}/stream`)
    expect(await text(owner, studio())).toContain('data-key')
  })

  test('200 a video has the title of its stream, also if that changes while it is live', async () => {
    await send(owner, 'channel', { title: 'At first' })
    await server().control('PUT', `/channels/${owner.id}/stream`, {})
    await send(owner, 'channel', { title: 'Later on' })
    const shown = async () => await text(owner, `${studio()}/videos`)
    expect(await shown()).toContain('>Later on</a>')
    await server().control('DELETE', `/channels/${owner.id}/stream`)
    await send(owner, 'channel', { title: 'Another stream' })
    expect([(await shown()).includes('>Later on</a>'), (await shown()).includes('At first')]).toEqual([
      true,
      false,
    ])
  })

  test('200 the campaigns of the game that is set, one line each', async () => {
    const now = nowOf(server())
    const in3Days = { starts_at: isoMillis(now + 3.5 * DAY), ends_at: isoMillis(now + 9 * DAY) }
    const game = await newGame(server())
    const lines = async () => {
      const { html } = await owner.person.open('/studio')
      const [list = ''] = /<ul class="campaigns.*?<\/ul>/s.exec(html) ?? []
      const found = [...list.matchAll(/<li>(.*?)<\/li>/gs)]
      return found.map(([, line = '']) => line.replaceAll(/<[^>]+>/g, '').trim())
    }
    await server().control('PATCH', `/channels/${owner.id}`, { game_id: game.id })
    expect(await lines()).toEqual([])
    await publishedCampaign(server(), { game_id: game.id, name: 'Later', ...in3Days })
    const running = await publishedCampaign(server(), { game_id: game.id, name: 'Reef <b>week</b>' })
    const others = { channels: 'listed', channel_ids: [stranger.id] }
    await publishedCampaign(server(), { game_id: game.id, name: 'Theirs', ...others })
    await publishedCampaign(server(), { name: 'Another game' })
    expect((await lines()).toSorted()).toEqual([
      'Later Your viewers will earn drops, starts in 3 days',
      'Reef &lt;b>week&lt;/b> Your viewers earn drops, ends in 23 hours',
      'Theirs Counts on other channels, ends in 23 hours',
    ])
    await server().control('POST', `/campaigns/${running.id}/stop`)
    expect((await lines()).length).toBe(2)
    await server().control('PATCH', `/channels/${owner.id}`, { game_id: '' })
    expect(await lines()).toEqual([])
  })

  test('200 the page of an editor: broadcast and markers, a way between the studios, and nothing else', async () => {
    const own = await editor.person.open('/studio')
    expect(own.html).toContain(`href="${studio()}"`)
    const seen = await editor.person.open(studio())
    expect([seen.status, seen.html.includes('You are an editor')]).toEqual([200, true])
    expect(seen.html).not.toMatch(/Stream key|Go live|\/editors|action="[^"]*\/videos"|\/channel"/)
    expect((await editor.person.open(`${studio()}/videos`)).forms.map(form => form.action)).toEqual(['/'])
    const actions = [...seen.html.matchAll(/ action="([^"]+)"/g)].map(([, action]) => action)
    expect([...new Set(actions)]).toEqual(['/', `${studio()}/markers`])
  })

  test('200 the tokens of the page have the scopes that it needs, and no others', async () => {
    const scopesOf = async (person: Person, path: string) => {
      const { html } = await person.open(path)
      const grant = /<meta name="strand-grant" content="([^"]+)"/.exec(html)?.[1] ?? ''
      return JSON.parse((await person.postRaw('/site/token', { grant }, {})).html).scope
    }
    expect(await scopesOf(owner.person, '/studio')).toEqual([
      'channel:manage:broadcast',
      'channel:read:stream_key',
    ])
    expect(await scopesOf(editor.person, studio())).toEqual(['channel:manage:broadcast'])
  })

  test('403 an editor and a stranger cannot use the forms of the owner, and nothing changes', async () => {
    const [key, before] = [await streamKey(), await channel()]
    for (const someone of [editor, stranger])
      for (const [part, fields] of [
        ['channel', { title: 'Mine now' }],
        ['key', { decision: 'show' }],
        ['key', { decision: 'rotate', grace: '0' }],
        ['editors', { decision: 'add', login: stranger.login }],
        ['editors', { decision: 'remove', user_id: editor.id }],
        ['videos', { decision: 'delete', video_id: '1' }],
      ] as const) {
        const seen = await send(someone, part, fields)
        expect([part, seen.status]).toEqual([part, 403])
        expect(seen.html).not.toContain(key)
      }
    expect([await streamKey(), await channel()]).toEqual([key, before])
    expect((await editor.person.open(studio())).status).toBe(200)
  })

  test('302 title, game by its name, language and tags; 400 what the API refuses, and nothing changes', async () => {
    const { person } = owner
    await person.browse('/studio')
    const [game] = (await server().control('GET', '/games?first=1')) as { id: string; name: string }[]
    const saved = await person.post(`${studio()}/channel`, {
      title: 'Night dives <b>with</b> chat',
      game: game?.name.toUpperCase() ?? '',
      language: 'de',
      tags: 'Relaxed, Drops English',
    })
    expect([saved.status, saved.location]).toEqual([302, `${studio()}?done=channel#channel`])
    const after = {
      title: 'Night dives <b>with</b> chat',
      game_id: game?.id,
      language: 'de',
      tags: ['Relaxed', 'Drops', 'English'],
    }
    expect(await channel()).toMatchObject(after)
    expect((await person.browse(saved.location ?? '')).html).toContain('Saved.')
    for (const [fields, message] of [
      [{ title: '' }, 'Title: '],
      [{ title: 'x'.repeat(141) }, 'Title: '],
      [{ title: 'Fine', game: 'No game of this name' }, 'There is no game with the name'],
      [{ title: 'Fine', language: 'klingon' }, 'Language: '],
      [{ title: 'Fine', tags: 'no-dashes' }, 'Tags: the tag'],
    ] as const) {
      await person.browse('/studio')
      const refused = await person.post(`${studio()}/channel`, fields)
      expect([message, refused.status]).toEqual([message, 400])
      expect(refused.html).toMatch(new RegExp(`role="alert">[^<]*${message}`))
    }
    expect(await channel()).toMatchObject(after)
    const { html } = await send(owner, 'channel', { title: 'Fine', tags: 'no-dashes' })
    expect(JSON.parse(html)).toEqual({ message: expect.stringContaining('tag') })
    expect((await send(owner, 'channel', { title: 'No game', game: '' })).status).toBe(200)
    expect(await channel()).toMatchObject({ title: 'No game', game_id: '', tags: [] })
  })

  test('200 the key is shown on request and replaced with a grace period, which the audit log has', async () => {
    const old = await streamKey()
    await owner.person.browse('/studio')
    const shown = await owner.person.post(`${studio()}/key`, { decision: 'show' })
    expect([shown.status, shown.html.includes(old), shown.headers.get('cache-control')]).toEqual([
      200,
      true,
      'no-store',
    ])
    const opens = async (key: string) =>
      (await server().strand.services.store.streamKeys.channelOf(
        server().strand.services.streamKeys.lookupHashes(key),
        new Date().toISOString(),
      )) !== undefined
    expect((await send(owner, 'key', { decision: 'rotate', grace: '3600' })).status).toBe(200)
    const second = await streamKey()
    expect([second === old, await opens(old), await opens(second)]).toEqual([false, true, true])
    expect((await send(owner, 'key', { decision: 'rotate', grace: '0' })).status).toBe(200)
    expect([await opens(old), await opens(second), await opens(await streamKey())]).toEqual([
      false,
      false,
      true,
    ])
    for (const fields of [{ decision: 'rotate', grace: '99999999' }, { decision: 'rotate', grace: '-1' }, {}])
      expect((await send(owner, 'key', fields)).status).toBe(400)
    expect((await audited())[0]).toMatchObject({
      actor: `user/${owner.id}`,
      operation: 'RotateStreamKey',
      subject: `channel/${owner.id}/stream-key`,
    })
  })

  test('200 markers: the editor adds, renames and deletes; 404 and 403 those of another channel', async () => {
    const place = await marked('the jump')
    const rename = { decision: 'rename', marker_id: place.marker_id, description: 'the <i>fall</i>' }
    expect((await send(stranger, 'markers', rename)).status).toBe(403)
    expect((await send(editor, 'markers', { ...rename, description: 'x'.repeat(141) })).status).toBe(400)
    expect((await send(editor, 'markers', { ...rename, marker_id: 'unheard-of' })).status).toBe(404)
    expect((await send(editor, 'markers', { marker_id: place.marker_id })).status).toBe(400)
    expect(await descriptions(place)).toEqual(['the jump'])
    expect((await send(editor, 'markers', rename)).status).toBe(200)
    expect(await descriptions(place)).toEqual(['the <i>fall</i>'])
    const shown = await text(editor, studio())
    expect(shown).toContain('the &lt;i>fall&lt;/i>')
    // In the list, and as a pin.
    expect(shown.match(new RegExp(`href="/videos/${place.video_id}\\?t=\\d+h\\d+m\\d+s"`, 'g'))).toHaveLength(
      2,
    )
    // Through the desk of the stranger, whose channel it is not.
    const foreign = { decision: 'delete', marker_id: place.marker_id }
    expect((await send(stranger, 'markers', foreign, stranger)).status).toBe(404)
    expect(await descriptions(place)).toEqual(['the <i>fall</i>'])
    const remove = { decision: 'delete', marker_id: place.marker_id }
    expect((await send(editor, 'markers', remove)).status).toBe(200)
    expect(await descriptions(place)).toEqual([])
    expect((await send(editor, 'markers', remove)).status).toBe(404)
    expect((await audited()).slice(0, 2).map((row: { operation: string }) => row.operation)).toEqual([
      'DeleteMarker',
      'RenameMarker',
    ])
  })

  test('200 markers are exported by a link, in every format; 404 and 403 those of others', async () => {
    const place = await marked('first')
    const link = (rest: string) => `${studio()}/markers/export?${rest}`
    const file = await editor.person.open(link(`video_id=${place.video_id}&format=csv`))
    expect([file.status, file.headers.get('content-type'), file.headers.get('content-disposition')]).toEqual([
      200,
      'text/csv; charset=utf-8',
      `attachment; filename="${owner.login}-${place.video_id}-markers.csv"`,
    ])
    expect(file.html).toContain('first')
    expect(file.headers.get('x-content-type-options')).toBe('nosniff')
    expect((await editor.person.open(link(`video_id=${place.video_id}&format=exe`))).status).toBe(302)
    expect((await editor.person.open(link('video_id=1&format=csv'))).status).toBe(404)
    const elsewhere = `/studio/${stranger.login}/markers/export?video_id=${place.video_id}&format=csv`
    expect((await stranger.person.open(elsewhere)).status).toBe(403)
  })

  test('404 a marker while offline: the sentence of the API', async () => {
    const { html, status } = await send(stranger, 'markers', { decision: 'add' }, stranger)
    expect([status, JSON.parse(html).message]).toEqual([404, expect.stringContaining(stranger.login)])
  })

  test('302 editors are added by name and removed; 400 unknown names and the owner', async () => {
    const { person } = owner
    await person.browse(`${studio()}/editors`)
    const added = await person.post(`${studio()}/editors`, {
      decision: 'add',
      login: stranger.login.toUpperCase(),
    })
    expect(added.location).toBe(`${studio()}/editors?done=editor-added`)
    expect((await stranger.person.open(studio())).status).toBe(200)
    expect((await send(owner, 'editors', { decision: 'remove', user_id: stranger.id })).status).toBe(200)
    expect((await stranger.person.open(studio())).status).toBe(403)
    expect((await send(owner, 'editors', { decision: 'remove', user_id: stranger.id })).status).toBe(404)
    for (const login of ['unheard_of', '', owner.login, "' or 1=1"])
      expect([login, (await send(owner, 'editors', { decision: 'add', login })).status]).toEqual([login, 400])
  })

  test('200 videos are renamed and deleted; those of others and of a live stream stay as they are', async () => {
    const { video_id } = await marked()
    expect((await send(owner, 'videos', { video_id, title: 'While live' })).status).toBe(409)
    await server().control('DELETE', `/channels/${owner.id}/stream`)
    expect((await send(owner, 'videos', { video_id, title: 'A new name' })).status).toBe(200)
    expect(await text(owner, `${studio()}/videos`)).toContain('A new name')
    for (const title of ['', 'x'.repeat(141)])
      expect((await send(owner, 'videos', { video_id, title })).status).toBe(400)
    expect((await send(stranger, 'videos', { video_id, title: 'Mine' }, stranger)).status).toBe(404)
    expect((await send(stranger, 'videos', { video_id, decision: 'delete' }, stranger)).status).toBe(403)
    expect(await text(owner, `${studio()}/videos`)).toContain('A new name')
    expect((await send(owner, 'videos', { video_id, decision: 'delete' })).status).toBe(200)
    expect((await send(owner, 'videos', { video_id, decision: 'delete' })).status).toBe(404)
    expect((await send(owner, 'videos', { video_id: 'odd id', decision: 'delete' })).status).toBe(404)
  })

  test('200 the status has what the encoder of the channel sends, for owner and editors', async () => {
    const { store } = server().strand.services
    const id = { adapter: 'embedded', server: 'elsewhere', session: `session-${Math.random()}` }
    const session = {
      ...id,
      user_id: owner.id,
      watch_url: 'https://node-2.example',
      stream_id: '77',
      video_id: '78',
      now: Date.now(),
    }
    await store.commands.openSession(session)
    const statusOf = async () => JSON.parse(await text(editor, `${studio()}/status`))
    const { user_login } = (await store.streams.of(owner.id)) ?? {}
    const origin = 'https://node-2.example'
    const broadcast = { source: `/live/${user_login}.m3u8`, isOnAir: true, recording: null, origin }
    expect(await statusOf()).toEqual({ encoder: null, broadcast })
    const codecs = { video_codec: 'H.264', audio_codec: 'AAC' }
    const status = { kilobits_per_second: 5900, frames_per_second: 60, width: 1920, height: 1080, ...codecs }
    await store.commands.reportEncoders({ ...id, encoders: [{ session: id.session, status }] })
    expect(await statusOf()).toEqual({ encoder: status, broadcast })
    const { headers, html } = await editor.person.open(studio())
    expect(headers.get('content-security-policy')).toContain("connect-src 'self' https://node-2.example;")
    expect(html).toContain('5.9 Mbit/s')
    expect(html).toContain('Your stream is healthy.')
    const ill = { ...status, key_frame_seconds: 8 }
    await store.commands.reportEncoders({ ...id, encoders: [{ session: id.session, status: ill }] })
    const { html: warned } = await editor.person.open(studio())
    expect(warned).toContain(
      '<strong>Key frames come every 8 s: viewers wait longer, and see you later.</strong>',
    )
    expect(warned).not.toContain('Your stream is healthy.')
    expect(html).not.toContain('What your encoder sends')
    await store.commands.closeSession({ ...id, now: Date.now() })
    expect(await statusOf()).toEqual({ encoder: null, broadcast: { ...broadcast, isOnAir: false } })
    const elsewhere = { adapter: 'generic', server: 'edge', session: 'a', watch_url: null, now: Date.now() }
    await store.commands.openSession({ ...session, ...elsewhere })
    expect(await statusOf()).toEqual({ encoder: null, broadcast: null })
    expect((await editor.person.open(studio())).html).toContain(
      'What your encoder sends is shown here, for broadcasts on the embedded media server.',
    )
    await store.commands.closeSession({ ...elsewhere })
  })
})
