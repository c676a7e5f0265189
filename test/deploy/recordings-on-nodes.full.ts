/** Recordings of two nodes: a publisher who moves, a bucket that any node serves from, and a node that is killed while it uploads. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Node, startTwoNodes, type TwoNodes } from '../support/cli/nodes.ts'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import { TestPublisher } from '../support/media/hls.ts'
import { until } from '../support/media/live-strand.ts'
import { readMp4 } from '../support/media/read-mp4.ts'
import { S3Server } from '../support/media/s3-server.ts'
import { engines, executeIn } from '../support/server.ts'

const SECONDS = 6
/** More than an entry of a playlist that grows. */
const MORE_SECONDS = 13

describe.skipIf(!engines.includes('postgres'))('recordings on two nodes', () => {
  let s3: S3Server
  let started: TwoNodes
  let one: Node
  let two: Node
  let users = 0
  beforeAll(async () => {
    s3 = await S3Server.start()
    // Nothing is uploaded until a test lets it.
    s3.fault = () => 'fail'
    const settings = { STRAND_RECORD: 'on', STRAND_RECONNECT_GRACE: '4', STRAND_DRAIN_SECONDS: '0' }
    started = await startTwoNodes({ ...settings, ...s3.environment }, { receive: true })
    ;[one, two] = started.nodes
  })
  afterAll(async () => {
    await endAllProcesses()
    for (const cable of started.cables) await cable.close()
    await started.place.remove()
    await s3.stop()
  })
  const newChannel = async () => {
    users += 1
    const { id } = await one.control('POST', '/users', { login: `publisher_${users}` })
    await one.control('PATCH', `/channels/${id}`, { vod_enabled: true })
    return {
      id: id as string,
      key: (await one.control('GET', `/channels/${id}/stream-key`)).stream_key as string,
    }
  }
  const videoOf = async (user: string) =>
    (await executeIn(started.place, `select id from videos where user_id = '${user}'`))[0]?.id as string
  const filesOf = (id: string): Promise<{ part: number; state: string; playlist: string | null }[]> =>
    executeIn(
      started.place,
      `select part, state, playlist from recording_files where video_id = '${id}' order by part`,
    )
  const fileOf = (node: string, id: string) => join(started.place.folder, node, 'recordings', `${id}.mp4`)
  /** Publishes some seconds to a node, at once. */
  const publish = async ({ rtmpPort }: Node, key: string, seconds: number, bytes = 2000) => {
    const publisher = await TestPublisher.start({ rtmpPort, key }, { hasSound: false })
    publisher.send(seconds, bytes)
    return publisher
  }

  /** Publishes to a node as an encoder does, and stays connected: positions are those of the clock. */
  const publishInTime = async (node: Node, key: string, seconds: number) => {
    const publisher = await publish(node, key, 0)
    const start = performance.now()
    while (publisher.seconds < seconds) {
      if (publisher.seconds * 1000 < performance.now() - start) publisher.send(0.2, 2000)
      else await Bun.sleep(10)
    }
    return publisher
  }

  test('a publisher who returns on the other node: both files in one playlist, deleted together', async () => {
    const { id: user, key } = await newChannel()
    const first = await publishInTime(one, key, SECONDS)
    const video = await until(
      () => videoOf(user),
      id => id !== undefined,
    )
    await until(
      () => filesOf(video),
      files => files.length === 1,
    )
    first.close()
    await until(
      () => filesOf(video),
      files => files[0]?.playlist !== null,
    )
    const second = await publishInTime(two, key, MORE_SECONDS)
    await until(
      () => filesOf(video),
      files => files.length === 2,
    )
    // While the stream runs, the node that has its end lists both.
    const growing = await until(
      async () => (await fetch(`${one.url}/videos/${video}.m3u8`)).text(),
      text => text.includes('?part=2'),
    )
    expect(growing).toContain('#EXT-X-PLAYLIST-TYPE:EVENT')
    second.close()
    const playlist = await until(
      async () => (await fetch(`${two.url}/videos/${video}.m3u8`)).text(),
      text => text.includes('#EXT-X-ENDLIST'),
    )
    expect(playlist.match(/#EXT-X-MAP:URI="[^"]+"/g)).toEqual([
      `#EXT-X-MAP:URI="${one.url}/videos/${video}.mp4"`,
      `#EXT-X-MAP:URI="${two.url}/videos/${video}.mp4?part=2"`,
    ])
    expect(playlist.split('#EXT-X-DISCONTINUITY').length).toBe(2)
    const parts = [
      ['', SECONDS],
      ['?part=2', MORE_SECONDS],
    ] as const
    // Every node answers for each part.
    for (const node of [one, two])
      for (const [part, seconds] of parts) {
        const answer = await until(
          () => fetch(`${node.url}/videos/${video}.mp4${part}`),
          ({ status }) => status === 200,
        )
        const [track] = await readMp4(new Uint8Array(await answer.arrayBuffer()))
        expect(track?.samples.length).toBe(seconds * 25)
      }
    s3.fault = () => undefined
    await until(
      () => filesOf(video),
      files => files.every(({ state }) => state === 'stored'),
    )
    expect(await s3.keys()).toEqual([`${video}-2.mp4`, `${video}.mp4`])
    for (const name of ['one', 'two']) expect(existsSync(fileOf(name, video))).toBe(false)
    for (const [part, seconds] of parts) {
      const answer = await fetch(`${one.url}/videos/${video}.mp4${part}`)
      const [track] = await readMp4(new Uint8Array(await answer.arrayBuffer()))
      expect(track?.samples.length).toBe(seconds * 25)
    }
    await one.control('DELETE', `/videos/${video}`)
    await until(
      () => s3.keys(),
      keys => keys.length === 0,
    )
    await until(
      () => filesOf(video),
      files => files.length === 0,
    )
  }, 240_000)

  test('SIGKILL while a recording is uploaded: the file stays, the upload begins again, and every node serves it', async () => {
    const { id: user, key } = await newChannel()
    s3.fault = (method, url) =>
      method === 'PUT' && url.searchParams.get('partNumber') === '2' ? 'hang' : undefined
    // Several parts of 8 MiB.
    const publisher = await publish(one, key, 20, 40_000)
    const video = await until(
      () => videoOf(user),
      id => id !== undefined,
    )
    await until(
      () => filesOf(video),
      files => files.length === 1,
    )
    await until(
      () => Bun.file(fileOf('one', video)).size,
      size => size > 17 * 1024 * 1024,
    )
    const asked = s3.requests.length
    publisher.close()
    await until(
      () => s3.requests.slice(asked).filter(each => each === `PUT /recordings/${video}.mp4`).length,
      count => count >= 2,
    )
    await one.stop('SIGKILL')
    expect((await filesOf(video))[0]?.state).toBe('uploading')
    const { size } = Bun.file(fileOf('one', video))
    expect(size).toBeGreaterThan(16 * 1024 * 1024)
    expect(await s3.keys()).toEqual([])
    s3.fault = () => undefined
    await one.start()
    await until(
      () => filesOf(video),
      files => files[0]?.state === 'stored',
    )
    await until(
      () => existsSync(fileOf('one', video)),
      isThere => !isThere,
    )
    expect((await s3.read(`${video}.mp4`)).length).toBe(size)
    // Its node is gone for good.
    await one.stop('SIGKILL')
    const playlist = await (await fetch(`${two.url}/videos/${video}.m3u8`)).text()
    expect(playlist).toContain('#EXT-X-ENDLIST')
    const answer = await fetch(`${two.url}/videos/${video}.mp4`)
    const [track] = await readMp4(new Uint8Array(await answer.arrayBuffer()))
    expect(track?.samples.length).toBeGreaterThan(430)
    const [, bytes, at] = playlist.match(/BYTERANGE:([0-9]+)@([0-9]+)\n[0-9]+\.mp4\n#EXT-X-ENDLIST/) ?? []
    const range = { Range: `bytes=${at}-${Number(at) + Number(bytes) - 1}` }
    const some = await fetch(`${two.url}/videos/${video}.mp4`, { headers: range })
    expect([some.status, (await some.arrayBuffer()).byteLength]).toEqual([206, Number(bytes)])
    expect(readdirSync(join(started.place.folder, 'one', 'recordings'))).toEqual(['folder-id'])
    await one.start()
  }, 120_000)
})
