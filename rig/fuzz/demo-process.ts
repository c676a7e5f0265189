import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { World } from '../../src/demo/described-world.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** `strand demo` as a process, with its log in a file. */
export class DemoProcess {
  readonly world: World
  readonly #child: Bun.Subprocess<'pipe', 'pipe', Bun.BunFile>
  readonly #log: string

  private constructor(world: World, child: Bun.Subprocess<'pipe', 'pipe', Bun.BunFile>, log: string) {
    this.world = world
    this.#child = child
    this.#log = log
  }

  static async start(log: string, settings: Readonly<Record<string, string>>): Promise<DemoProcess> {
    const words = ['demo', '--json', '--still', '--until-stdin-ends', '--port', '0', '--streams', '20']
    const child = Bun.spawn(
      [process.execPath, 'src/main.ts', ...words, '--settings', JSON.stringify(settings)],
      { cwd: ROOT, stdin: 'pipe', stdout: 'pipe', stderr: Bun.file(log) },
    )
    let text = ''
    for await (const chunk of child.stdout) {
      text += new TextDecoder().decode(chunk)
      if (text.includes('\n')) return new DemoProcess(JSON.parse(text) as World, child, log)
    }
    throw new Error(`the demo ended: ${readFileSync(log, 'utf8').slice(-800)}`)
  }

  log(): string {
    return readFileSync(this.#log, 'utf8')
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#child.exited
  }
}
