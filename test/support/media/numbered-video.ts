/**
 * ffmpeg as a broadcaster whose pictures carry their number: 16 bars at the bottom, black for 0 and white for 1, lowest bit
 * first. Few and small pictures: encoder and browser share the machine with other tests.
 */
import type { HlsPlayer } from './hls.ts'
import { readMp4 } from './read-mp4.ts'

const { TEST_FFMPEG = '' } = process.env

export const FRAMES_PER_SECOND = 10
const [WIDTH, HEIGHT, BAR] = [320, 180, 16]

const PICTURE = `testsrc2=size=${WIDTH}x${HEIGHT}:rate=${FRAMES_PER_SECOND}[picture];
  color=size=${16 * BAR}x${BAR}:rate=${FRAMES_PER_SECOND},format=yuv420p,geq=lum='16+219*mod(floor(N/pow(2,floor(X/${BAR}))),2)':cb=128:cr=128[bars];
  [picture][bars]overlay=0:${HEIGHT - BAR},format=yuv420p`

/** Seconds between key frames. */
export const GROUP_SECONDS = 2

/** Publishes without an end. */
export function publishNumbered(url: string): Bun.Subprocess {
  const words = [
    ...['-loglevel', 'error', '-re', '-f', 'lavfi', '-i', PICTURE.replaceAll(/\s+/g, '')],
    ...['-re', '-f', 'lavfi', '-i', 'sine=frequency=440:sample_rate=44100'],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-tune', 'zerolatency'],
    ...['-g', String(GROUP_SECONDS * FRAMES_PER_SECOND), '-c:a', 'aac', '-b:a', '96k', '-f', 'flv', url],
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

/** When the server got the picture with number 0, in milliseconds since 1970: the live playlist has the time of its first segment. */
export async function readArrival(player: HlsPlayer): Promise<number> {
  const { segments } = await player.playlistWith(2)
  const [first] = segments
  const pieces = [first?.init ?? '', first?.uri ?? ''].map(name => player.bytes(name))
  const [video] = await readMp4(...(await Promise.all(pieces)))
  return (first?.startsAt ?? Number.NaN) - 1000 * (video?.samples[0]?.seconds ?? Number.NaN)
}
