/** A suspension reaches every node within a second: what is in memory, and the broadcast that one of them receives. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Node, startTwoNodes, type TwoNodes } from '../support/cli/nodes.ts'
import { AVC } from '../support/media/codecs.ts'
import { RtmpClient } from '../support/media/rtmp-client.ts'
import { engines } from '../support/server.ts'

const MAX_MILLISECONDS = 1000

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

  const get = async (node: Node, path: string, token?: string) => {
    const headers = { Connection: 'close', ...(token && { Authorization: `Bearer ${token}` }) }
    const answer = await fetch(`${node.url}${path}`, { headers, redirect: 'manual' })
    return { status: answer.status, text: await answer.text() }
  }

  test('within 1 s both nodes show neither the user, the broadcast nor the video, and reject the token', async () => {
    const [one, two] = started.nodes
    const { id, login } = await one.control('POST', '/users', { login: 'lunar_otter' })
    await one.control('PATCH', `/channels/${id}`, { vod_enabled: true })
    const { stream_key } = await one.control('POST', `/channels/${id}/stream-key/rotate`, {})
    const { id: client_id } = await one.control('POST', '/clients', { name: 'Two nodes' })
    const { access_token } = await one.control('POST', '/tokens', { client_id, user_id: id })
    const { access_token: appToken } = await one.control('POST', '/tokens', { client_id })
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

    /** The paths that still show something, on either node. */
    const showing = async () => {
      const found: string[] = []
      for (const [name, node] of [
        ['one', one],
        ['two', two],
      ] as const) {
        for (const path of [
          `/helix/streams?user_id=${id}`,
          `/helix/users?id=${id}`,
          `/${login}`,
          `/videos/${video}`,
          `/videos/${video}.m3u8`,
          `/live/${login}.m3u8`,
          ...(name === 'one' ? [playlist] : []),
        ]) {
          const { status, text } = await get(node, path, path.startsWith('/helix/') ? appToken : undefined)
          if (status < 400 && !/^\{"data":\[\]/.test(text)) found.push(`${name} ${path}`)
        }
        const { status } = await get(node, '/oauth2/validate', access_token)
        if (status < 400) found.push(`${name} token`)
      }
      return found
    }
    expect(await showing()).toHaveLength(15)

    await two.control('PUT', `/users/${id}/suspension`, { reason: 'spam' })
    const suspendedAt = performance.now()
    let last = await showing()
    while (last.length > 0 && performance.now() - suspendedAt < MAX_MILLISECONDS) {
      await Bun.sleep(20)
      last = await showing()
    }
    expect(last).toEqual([])
    await client.closed()
  })
})
