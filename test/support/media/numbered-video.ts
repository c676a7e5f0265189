/**
 * ffmpeg as a broadcaster whose pictures carry their number: 16 bars at the bottom, black for 0 and white for 1, lowest bit
 * first. A key frame every second. Few and small pictures: encoder and browser share the machine with other tests.
 */
import type { Pause } from '../browser/lateness.ts'

const { TEST_FFMPEG = '' } = process.env

export const FRAMES_PER_SECOND = 10
const [WIDTH, HEIGHT, BAR] = [320, 180, 16]

const PICTURE = `testsrc2=size=${WIDTH}x${HEIGHT}:rate=${FRAMES_PER_SECOND}[picture];
  color=size=${16 * BAR}x${BAR}:rate=${FRAMES_PER_SECOND},format=yuv420p,geq=lum='16+219*mod(floor(N/pow(2,floor(X/${BAR}))),2)':cb=128:cr=128[bars];
  [picture][bars]overlay=0:${HEIGHT - BAR},format=yuv420p`

export function publishNumbered(url: string): Bun.Subprocess {
  const words = [
    ...['-loglevel', 'error', '-re', '-f', 'lavfi', '-i', PICTURE.replaceAll(/\s+/g, '')],
    ...['-re', '-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=44100'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency', '-g', String(FRAMES_PER_SECOND)],
    ...['-c:a', 'aac', '-b:a', '96k', '-f', 'flv', url],
  ]
  return Bun.spawn([TEST_FFMPEG, ...words], { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' })
}

/** Runs in the page: the number of the picture that is shown. */
export const SHOWN_NUMBER = `(() => {
  const video = document.querySelector('video')
  const canvas = document.createElement('canvas')
  canvas.width = ${16 * BAR}
  canvas.height = ${BAR}
  const context = canvas.getContext('2d', { willReadFrequently: true })
  context.drawImage(video, 0, ${HEIGHT - BAR}, ${16 * BAR}, ${BAR}, 0, 0, ${16 * BAR}, ${BAR})
  const { data } = context.getImageData(0, ${BAR / 2}, ${16 * BAR}, 1)
  return Array.from({ length: 16 }, (_, bit) => (data[(bit * ${BAR} + ${BAR / 2}) * 4] > 128 ? 2 ** bit : 0)).reduce((sum, each) => sum + each, 0)
})()`

/** When each picture of a broadcast reached a viewer in this process, by its number. */
export class Arrivals {
  readonly #arrivedAt = new Map<number, number>()
  readonly #abort = new AbortController()

  /** Reads the broadcast of a channel until it ends. Timestamps count from the first picture of the broadcast. */
  async follow(url: string): Promise<void> {
    const response = await fetch(url, { signal: this.#abort.signal })
    let rest = Buffer.alloc(0)
    try {
      for await (const chunk of response.body ?? []) {
        rest = Buffer.concat([rest, chunk])
        rest = this.#read(rest, Date.now())
      }
    } catch (error) {
      if (!this.#abort.signal.aborted) throw error
    }
  }

  stop(): void {
    this.#abort.abort()
  }

  at(number: number): number | undefined {
    return this.#arrivedAt.get(number)
  }

  /** How long no picture came, each time: the encoder or this process may have had no time. */
  pauses(): Pause[] {
    const times = [...this.#arrivedAt.values()]
    return times.map((at, index) => ({ at, milliseconds: at - (times[index - 1] ?? at) }))
  }

  /** The header of FLV has 13 bytes; tags have a header of 11 bytes and their size behind them. */
  #read(bytes: Buffer, now: number): Buffer<ArrayBuffer> {
    let at = bytes.subarray(0, 3).toString() === 'FLV' ? 13 : 0
    while (bytes.length >= at + 15) {
      const next = at + 15 + bytes.readUIntBE(at + 1, 3)
      if (bytes.length < next) break
      if (bytes.readUInt8(at) === 9) {
        const milliseconds = bytes.readUIntBE(at + 4, 3)
        const number = Math.round((milliseconds * FRAMES_PER_SECOND) / 1000)
        if (!this.#arrivedAt.has(number)) this.#arrivedAt.set(number, now)
      }
      at = next
    }
    return Buffer.from(bytes.subarray(at))
  }
}
