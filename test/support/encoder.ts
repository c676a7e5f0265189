/** ffmpeg as a broadcaster: a short clip, published in a loop. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const { TEST_FFMPEG = '' } = process.env
export const hasEncoder = TEST_FFMPEG !== ''

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
    const words = [
      '-loglevel',
      'error',
      '-re',
      '-stream_loop',
      '-1',
      '-i',
      this.#clip,
      '-c',
      'copy',
      '-f',
      'flv',
      url,
    ]
    const child = Bun.spawn([TEST_FFMPEG, ...words], { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
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
