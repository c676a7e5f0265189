/** node-media-server, on the configuration that Strand prints; only addresses and folders are replaced. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const { TEST_NODE_MEDIA_SERVER = '' } = process.env
export const hasNodeMediaServer = TEST_NODE_MEDIA_SERVER !== ''

export class NodeMediaServer {
  readonly folder = mkdtempSync(join(tmpdir(), 'strand-node-media-server-'))
  readonly rtmpPort: number
  readonly httpPort: number
  #child: Bun.Subprocess<'ignore', 'pipe', 'inherit'> | undefined
  #log = ''

  constructor(ports: { readonly rtmp: number; readonly http: number }) {
    this.rtmpPort = ports.rtmp
    this.httpPort = ports.http
  }

  get configurationFile(): string {
    return join(this.folder, 'config.json')
  }

  start(configuration: string): void {
    mkdirSync(join(this.folder, 'recordings'), { recursive: true })
    const text = configuration
      .replaceAll('/var/lib/node-media-server', this.folder)
      .replace('"port": 1935', `"port": ${this.rtmpPort}`)
    writeFileSync(this.configurationFile, text, { mode: 0o600 })
    const words = [TEST_NODE_MEDIA_SERVER, '--config', this.configurationFile, '--bind', '127.0.0.1']
    this.#child = Bun.spawn(['node', ...words], { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
    void this.#gather(this.#child.stdout)
  }

  /** All that it has written: its output, and the names and contents of its files apart from videos. */
  written(): string {
    const names = Bun.spawnSync(['find', this.folder]).stdout.toString()
    const texts = names
      .split('\n')
      .filter(name => /\.(?:json|jsonl|log)$/.test(name) && name !== this.configurationFile)
      .map(name => readFileSync(name, 'utf8'))
    return [this.#log, names, ...texts].join('\n')
  }

  async remove(): Promise<void> {
    this.#child?.kill('SIGTERM')
    await this.#child?.exited
    rmSync(this.folder, { recursive: true, force: true })
  }

  async #gather(output: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    for await (const piece of output) this.#log += decoder.decode(piece, { stream: true })
  }
}
