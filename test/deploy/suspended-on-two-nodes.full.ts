/** A suspension and its end reach every node within a second: what is in memory, and the broadcast that one of them receives. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { Person } from '../support/browser/person.ts'
import { type Node, startTwoNodes, type TwoNodes } from '../support/cli/nodes.ts'
import { AVC } from '../support/media/codecs.ts'
import { RtmpClient } from '../support/media/rtmp-client.ts'
import { Canaries } from '../support/server/canaries.ts'
import { engines, type TestServer } from '../support/server.ts'

const MAX_MILLISECONDS = 1000
/** No demo has filled the store. */
const NO_WORLD = {} as TestServer['world']

describe.skipIf(!engines.includes('postgres'))('a suspension on two nodes', () => {
  let started: TwoNodes
  let timer: Timer | undefined
  beforeAll(async () => {
    started = await startTwoNodes({ STRAND_RECORD: 'on' }, { receive: true })
  })
  afterAll(async () => {
    clearInterval(timer)
    for (const node of started.nodes) await node.stop()
    for (const cable of started.cables) await cable.close()
    await started.place.remove()
  })

  const get = async (node: Node, path: string, token?: string, cookies?: string) => {
    const headers = {
      Connection: 'close',
      ...(token && { Authorization: `Bearer ${token}` }),
      ...(cookies && { Cookie: cookies }),
    }
    const answer = await fetch(`${node.url}${path}`, { headers, redirect: 'manual' })
    return { status: answer.status, text: await answer.text() }
  }

  test('within 1 s both nodes hide the user, the broadcast and the video, and reject tokens, session and keys; the end brings them back', async () => {
    const [one, two] = started.nodes
    const password = 'the right password'
    const { id, login } = await one.control('POST', '/users', { login: 'lunar_otter', password })
    await one.control('PATCH', `/channels/${id}`, { vod_enabled: true })
    const { stream_key } = await one.control('POST', `/channels/${id}/stream-key/rotate`, {})
    const { id: client_id } = await one.control('POST', '/clients', { name: 'Two nodes' })
    const { access_token } = await one.control('POST', '/tokens', { client_id, user_id: id })
    const { access_token: appToken } = await one.control('POST', '/tokens', { client_id })
    const hobby = await one.control('POST', '/clients', { name: 'A hobby', owner_user_id: id })
    const { access_token: hobbyToken } = await one.control('POST', '/tokens', { client_id: hobby.id })
    const studio = await one.control('POST', '/organizations', { name: 'Reef studio' })
    const game = await one.control('POST', '/games', { name: 'Tide', organization_id: studio.id })
    const granted = { name: 'Red kite', organization_id: studio.id }
    const { id: benefit_id } = await one.control('POST', '/benefits', granted)
    const grants = [{ user_id: id, game_id: game.id, benefit_id }]
    const { id: entitlement } = await one.control('POST', '/entitlements', { grants })
    const person = new Person({ url: one.url, canaries: new Canaries(), world: NO_WORLD })
    await person.browse('/login')
    expect((await person.submit('/login', { login, password })).status).toBe(200)
    const client = await RtmpClient.connect(one.rtmpPort)
    expect(await client.publish(stream_key)).toBe('NetStream.Publish.Start')
    client.video(0, AVC.header)
    let timestamp = 0
    timer = setInterval(() => {
      timestamp += 100
      client.video(timestamp, AVC.keyFrame())
    }, 100)

    const live = async (node: Node) => {
      const { text } = await get(node, `/live/${login}.m3u8`)
      return /^[^#\s]+\/index\.m3u8$/m.exec(text)?.[0]
    }
    while ((await live(one)) === undefined || (await live(two)) === undefined) await Bun.sleep(20)
    const playlist = `/live/${await live(one)}`
    while ((await get(one, playlist)).status !== 200) await Bun.sleep(20)
    const { data } = JSON.parse((await get(two, `/helix/videos?user_id=${id}`, appToken)).text)
    const video: string = data[0].id
    while ((await get(one, `/videos/${video}.m3u8`)).status !== 200) await Bun.sleep(20)

    const named = [['one', one] as const, ['two', two] as const]
    const lasting = [
      `/helix/users?id=${id}`,
      `/helix/channels?broadcaster_id=${id}`,
      `/helix/search/channels?query=${login}`,
      `/${login}`,
      `/search/suggestions?q=${login}`,
      `/videos/${video}`,
      `/videos/${video}.m3u8`,
    ]
    const ending = [`/helix/streams?user_id=${id}`, `/live/${login}.m3u8`]
    /** The paths that show something, on either node. */
    const showing = async (paths: readonly string[]) => {
      const found: string[] = []
      for (const [name, node] of named)
        for (const path of paths) {
          const { status, text } = await get(node, path, path.startsWith('/helix/') ? appToken : undefined)
          if (status < 400 && !/^\{"(?:data|suggestions)":\[\]/.test(text)) found.push(`${name} ${path}`)
        }
      return found
    }
    const tokens = { 'of the user': access_token, 'of the application': hobbyToken }
    /** What the user can still do. */
    const acting = async () => {
      const found: string[] = []
      for (const [name, node] of named) {
        for (const [kind, token] of Object.entries(tokens))
          if ((await get(node, '/oauth2/validate', token)).status < 400) found.push(`${name} token ${kind}`)
        const { status } = await get(node, '/account', undefined, person.cookies)
        if (status === 200) found.push(`${name} session`)
      }
      return found
    }
    const broadcast = async () =>
      (await get(one, playlist)).status < 400 ? [`the broadcast of ${login}`] : []
    const all = async () => [
      ...(await showing([...lasting, ...ending])),
      ...(await acting()),
      ...(await broadcast()),
    ]
    /** Asks until it is so, at most for a second. */
    const untilEqual = async (ask: () => Promise<readonly string[]>, expected: readonly string[]) => {
      const began = performance.now()
      let last = await ask()
      while (!Bun.deepEquals(last, expected) && performance.now() - began < MAX_MILLISECONDS) {
        await Bun.sleep(20)
        last = await ask()
      }
      expect(last).toEqual([...expected])
    }
    expect(await all()).toHaveLength(2 * (lasting.length + ending.length + 3) + 1)
    const before = await showing(lasting)

    await two.control('PUT', `/users/${id}/suspension`, { reason: 'spam' })
    await untilEqual(all, [])
    await client.closed()
    for (const [, node] of named) {
      const again = await RtmpClient.connect(node.rtmpPort)
      expect(await again.publish(stream_key)).not.toBe('NetStream.Publish.Start')
      again.close()
      expect((await node.control('GET', `/entitlements/${entitlement}`)).user_id).toBe(id)
    }

    await one.control('DELETE', `/users/${id}/suspension`)
    await untilEqual(() => showing(lasting), before)
    await untilEqual(acting, ['one token of the application', 'two token of the application'])
    const published = await RtmpClient.connect(two.rtmpPort)
    expect(await published.publish(stream_key)).toBe('NetStream.Publish.Start')
    published.close()
    const { operation } = await one.control('GET', `/audit?subject=user/${id}&operation=UnsuspendUser`)
    expect(operation).toBe('UnsuspendUser')
    const suspended = await two.control('GET', `/audit?subject=user/${id}&operation=SuspendUser`)
    expect(suspended.after.suspension_reason).toBe('spam')
  })
})
