/** Encoders that publish, and players that watch, at the pace of the clock. */
import { AAC, AVC } from '../../test/support/media/codecs.ts'
import { RtmpClient } from '../../test/support/media/rtmp-client.ts'
import { Wire } from '../../test/support/server/wire.ts'
import { askOver, requestBytes } from './http.ts'

const PICTURES_PER_SECOND = 30
/** Pictures from one key frame to the next. */
const GROUP = 2 * PICTURES_PER_SECOND
const SOUNDS_PER_SECOND = 44_100 / 1024
const SOUND_BYTES = 370
const TICK_MILLISECONDS = 10

/** 30 pictures a second, a key frame every two seconds, and sound. */
export class Publishers {
  readonly #all: { client: RtmpClient; began: number; pictures: number; sounds: number }[] = []
  readonly #keyFrame: Buffer
  readonly #frame: Buffer
  readonly #sound = AAC.frame(SOUND_BYTES)
  readonly #timer: Timer

  /** @param bitsPerSecond of each, a tenth of which is key frames */
  constructor(bitsPerSecond: number) {
    const group = (2 * bitsPerSecond) / 8 - 2 * SOUNDS_PER_SECOND * SOUND_BYTES
    this.#keyFrame = AVC.keyFrame(Math.round(group / 10))
    this.#frame = AVC.frame(Math.round((group * 9) / 10 / (GROUP - 1)))
    this.#timer = setInterval(() => this.#send(), TICK_MILLISECONDS)
  }

  async add(rtmpPort: number, key: string): Promise<void> {
    const client = await RtmpClient.connect(rtmpPort)
    const answer = await client.publish(key)
    if (answer !== 'NetStream.Publish.Start') throw new Error(`publisher refused: ${answer}`)
    client.video(0, AVC.header)
    client.audio(0, AAC.header)
    this.#all.push({ client, began: performance.now(), pictures: 0, sounds: 0 })
  }

  /** Those that the server has disconnected. */
  get lost(): number {
    return this.#all.filter(({ client }) => client.isClosed).length
  }

  stop(): void {
    clearInterval(this.#timer)
    for (const { client } of this.#all) client.close()
  }

  #send(): void {
    for (const each of this.#all) {
      const seconds = (performance.now() - each.began) / 1000
      for (; each.pictures / PICTURES_PER_SECOND <= seconds; each.pictures++) {
        const frame = each.pictures % GROUP === 0 ? this.#keyFrame : this.#frame
        each.client.video(Math.round((each.pictures * 1000) / PICTURES_PER_SECOND), frame)
      }
      for (; each.sounds / SOUNDS_PER_SECOND <= seconds; each.sounds++)
        each.client.audio(Math.round((each.sounds * 1000) / SOUNDS_PER_SECOND), this.#sound)
    }
  }
}

const PART = /#EXT-X-PART:[^\n]*URI="([0-9]+)\.([0-9]+)\.m4s"/g

/**
 * Players of low-latency HLS: each asks for the playlist with the next part, which waits for it, and then for the parts that
 * it does not have, over one connection. What they get is counted and thrown away.
 */
export class HlsViewers {
  readonly #playlist: URL
  readonly #connections: Wire[] = []
  #isOver = false
  /** Of all: bytes of video, requests, and answers that were not 200. */
  readonly total = { bytes: 0, requests: 0, failed: 0 }

  private constructor(playlist: URL) {
    this.#playlist = playlist
  }

  /** Opens the broadcast of a channel as soon as it is live. */
  static async open(url: string, login: string): Promise<HlsViewers> {
    for (;;) {
      const multivariant = new URL(`/live/${login}.m3u8`, url)
      const answer = await fetch(multivariant)
      const text = await answer.text()
      if (answer.ok) return new HlsViewers(new URL(text.trim().split('\n').at(-1) ?? '', multivariant))
      await Bun.sleep(50)
    }
  }

  async add(): Promise<void> {
    const connection = await Wire.open(this.#playlist.origin)
    this.#connections.push(connection)
    this.#watch(connection).catch(() => {
      if (!this.#isOver) this.total.failed += 1
    })
  }

  stop(): void {
    this.#isOver = true
    for (const connection of this.#connections) connection.close()
  }

  async #watch(connection: Wire): Promise<void> {
    let last: readonly [sequence: number, part: number] | undefined
    while (!this.#isOver) {
      const next = last === undefined ? '' : `?_HLS_msn=${last[0]}&_HLS_part=${last[1] + 1}`
      const playlist = (await this.#ask(connection, this.#playlist.pathname + next)).text
      const parts = [...playlist.matchAll(PART)]
      const listed = parts.map(([, sequence, part]) => [Number(sequence), Number(part)] as const)
      // Of the first playlist only the last part.
      const [lastSequence = -1, lastPart = -1] = last ?? listed.at(-2) ?? []
      for (const [sequence, part] of listed) {
        if (sequence < lastSequence || (sequence === lastSequence && part <= lastPart)) continue
        const { pathname } = new URL(`${sequence}.${part}.m4s`, this.#playlist)
        const { bytes } = await this.#ask(connection, pathname)
        this.total.bytes += bytes.length
      }
      last = listed.at(-1) ?? last
    }
  }

  async #ask(connection: Wire, path: string) {
    this.total.requests += 1
    const answer = await askOver(connection, requestBytes(this.#playlist.origin, { path }))
    if (answer.status !== 200) this.total.failed += 1
    return answer
  }
}
