/** ffmpeg as a broadcaster: a short clip, published in a loop. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const { TEST_FFMPEG = '' } = process.env
export const hasEncoder = TEST_FFMPEG !== ''
const { TEST_FFPROBE = '' } = process.env
export const hasProbe = TEST_FFPROBE !== ''

const SOURCE = 'testsrc=size=64x48:rate=5'
const clipOf = (source: string) =>
  `-f lavfi -i ${source} -f lavfi -i sine -t 12 -c:v libx264 -pix_fmt yuv420p -preset ultrafast -g 5 -c:a aac`

export class Encoders {
  readonly #folder = mkdtempSync(join(tmpdir(), 'strand-clip-'))
  readonly #clip = join(this.#folder, 'clip.flv')
  readonly #running = new Set<Bun.Subprocess>()
  readonly #source: string

  /** @param source of ffmpeg's lavfi */
  constructor(source = SOURCE) {
    this.#source = source
  }

  async prepare(): Promise<void> {
    const words = ['-loglevel', 'error', ...clipOf(this.#source).split(' '), this.#clip]
    const made = Bun.spawn([TEST_FFMPEG, ...words], { stdin: 'ignore', stdout: 'ignore', stderr: 'inherit' })
    if ((await made.exited) !== 0) throw new Error('ffmpeg could not make the clip')
  }

  publish(url: string): Bun.Subprocess {
    return this.#run(['-re', '-stream_loop', '-1', '-i', this.#clip, '-c', 'copy', '-f', 'flv', url])
  }

  /** A viewer. */
  watch(url: string): Bun.Subprocess {
    return this.#run(['-i', url, '-f', 'null', '-'])
  }

  #run(words: readonly string[]): Bun.Subprocess {
    const child = Bun.spawn([TEST_FFMPEG, '-loglevel', 'error', ...words], {
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    })
    this.#running.add(child)
    void child.exited.then(() => this.#running.delete(child))
    return child
  }

  async remove(): Promise<void> {
    for (const child of this.#running) child.kill('SIGKILL')
    await Promise.all([...this.#running].map(({ exited }) => exited))
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

async function outputOf(command: readonly string[]): Promise<Buffer> {
  const child = Bun.spawn([...command], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [output, errors] = await Promise.all([child.stdout.bytes(), child.stderr.text(), child.exited])
  if (child.exitCode !== 0) throw new Error(`${command[0]} failed: ${errors}`)
  return Buffer.from(output)
}

/** What ffprobe reads at a URL. */
export async function probe(
  url: string,
): Promise<{ readonly start: number; readonly seconds: number; readonly codecs: string[] }> {
  const words = [
    '-loglevel',
    'error',
    '-show_entries',
    'format=start_time,duration:stream=codec_name',
    '-of',
    'json',
    url,
  ]
  const { format, streams } = JSON.parse((await outputOf([TEST_FFPROBE, ...words])).toString()) as {
    readonly format: { readonly start_time: string; readonly duration: string }
    readonly streams: readonly { readonly codec_name: string }[]
  }
  return {
    start: Number(format.start_time),
    seconds: Number(format.duration),
    codecs: streams.map(({ codec_name }) => codec_name).sort(),
  }
}

/**
 * The picture at a position, as ffmpeg decodes it: three bytes for each point. It seeks, with ranges where it reads over
 * HTTP, or reads all that comes before.
 */
export function pictureAt(url: string, seconds: number, way: 'seek' | 'read'): Promise<Buffer> {
  const position = ['-ss', String(seconds)]
  const input = way === 'seek' ? [...position, '-i', url] : ['-i', url, ...position]
  // With the times of the file: at a rate, a picture before a gap may take the place of the one behind it.
  const output = ['-fps_mode', 'passthrough', '-frames:v', '1', '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-']
  return outputOf([TEST_FFMPEG, '-loglevel', 'error', ...input, ...output])
}

/** What ffmpeg has to object to when it decodes everything at a URL. */
export async function decodingErrors(url: string): Promise<string> {
  // With the times of the file: at a rate, frames of two encoders may fall on the same moment.
  const times = ['-fps_mode', 'passthrough', '-enc_time_base', '-1']
  const words = ['-loglevel', 'warning', '-i', url, ...times, '-f', 'null', '-']
  const child = Bun.spawn([TEST_FFMPEG, ...words], { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  return child.stderr.text()
}

/**
 * Whether a recording that ended within `seconds` after a marker has the marker at its position, to the second: streams start
 * at a whole second.
 */
export function endsAtMarker(times: readonly number[], position: number, seconds: number): boolean {
  const after = Math.max(...times) - position
  return after > -1.5 && after < 1.5 + seconds
}

/** The times of the pictures in a recording, in seconds; from a position on, if one is given. */
export function pictureTimes(url: string, from?: number): number[] {
  const seek = from === undefined ? [] : ['-read_intervals', `${from}%`]
  const words = [
    '-v',
    'error',
    ...seek,
    '-select_streams',
    'v',
    '-show_entries',
    'packet=pts_time',
    '-of',
    'csv=p=0',
  ]
  const { stdout, stderr } = Bun.spawnSync([TEST_FFPROBE, ...words, url])
  if (stdout.length === 0) throw new Error(`ffprobe: ${stderr}`)
  return stdout.toString().trim().split('\n').map(Number.parseFloat).filter(Number.isFinite)
}
