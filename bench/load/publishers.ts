/** Encoders that publish at the pace of the clock: 30 pictures a second, a key frame every two seconds, and sound. */
import { AAC, AVC } from '../../test/support/media/codecs.ts'
import { RtmpClient } from '../../test/support/media/rtmp-client.ts'

const PICTURES_PER_SECOND = 30
const GROUP = 2 * PICTURES_PER_SECOND
const SOUNDS_PER_SECOND = 44_100 / 1024
const SOUND_BYTES = 370
const TICK_MILLISECONDS = 10

export class Publishers {
  readonly #clients: { readonly client: RtmpClient; readonly began: number }[] = []
  readonly #keyFrame: Buffer
  readonly #frame: Buffer
  readonly #sound = AAC.frame(SOUND_BYTES)
  readonly #sent: { pictures: number; sounds: number }[] = []
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
    this.#clients.push({ client, began: performance.now() })
    this.#sent.push({ pictures: 0, sounds: 0 })
  }

  /** Those that the server has disconnected. */
  get lost(): number {
    return this.#clients.filter(({ client }) => client.isClosed).length
  }

  stop(): void {
    clearInterval(this.#timer)
    for (const { client } of this.#clients) client.close()
  }

  #send(): void {
    for (const [index, { client, began }] of this.#clients.entries()) {
      const sent = this.#sent[index]
      if (sent === undefined) continue
      const passed = performance.now() - began
      while ((sent.pictures * 1000) / PICTURES_PER_SECOND <= passed) {
        const due = (sent.pictures * 1000) / PICTURES_PER_SECOND
        client.video(Math.round(due), sent.pictures % GROUP === 0 ? this.#keyFrame : this.#frame)
        sent.pictures += 1
      }
      while ((sent.sounds * 1000) / SOUNDS_PER_SECOND <= passed) {
        client.audio(Math.round((sent.sounds * 1000) / SOUNDS_PER_SECOND), this.#sound)
        sent.sounds += 1
      }
    }
  }
}
