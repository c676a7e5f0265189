/** nginx with its RTMP module, on the configuration that Strand prints; only addresses and folders are replaced. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../store/postgres.ts'

const { TEST_NGINX = '', TEST_NGINX_RTMP = '' } = process.env
export const hasNginxRtmp = TEST_NGINX !== '' && TEST_NGINX_RTMP !== ''

const naive = (folder: string) =>
  `application naive { live on; hls on; hls_path ${folder}/naive; hls_fragment 1s; }`

export class NginxRtmp {
  readonly rtmpPort: number
  readonly hlsPort: number
  readonly folder: string
  readonly #file: string
  #child: Bun.Subprocess | undefined

  private constructor(rtmpPort: number, hlsPort: number, folder: string, file: string) {
    this.rtmpPort = rtmpPort
    this.hlsPort = hlsPort
    this.folder = folder
    this.#file = file
  }

  /** The API port is already in the configuration. */
  static async prepare(configuration: string, hlsPort: number): Promise<NginxRtmp> {
    const rtmpPort = await freePort()
    const folder = mkdtempSync(join(tmpdir(), 'strand-nginx-rtmp-'))
    const folders = ['hls', 'naive', 'recordings'].map(name => join(folder, name))
    for (const each of folders) mkdirSync(each)
    // The worker runs as another user.
    for (const each of [folder, ...folders]) chmodSync(each, 0o777)
    const file = join(folder, 'nginx.conf')
    const changes: readonly (readonly [string, string])[] = [
      [
        'include /etc/nginx/modules-enabled/*.conf;',
        `load_module ${TEST_NGINX_RTMP};\npid ${folder}/nginx.pid;`,
      ],
      ['listen 1935;', `listen 127.0.0.1:${rtmpPort};`],
      ['127.0.0.1:1935', `127.0.0.1:${rtmpPort}`],
      // As in most instructions for nginx-rtmp: published and played under the stream key.
      ['application live {', `${naive(folder)}\n        application live {`],
      ['/var/lib/nginx/recordings', `${folder}/recordings`],
      ['hls_path /var/lib/nginx/hls', `hls_path ${folder}/hls`],
      ['alias /var/lib/nginx/hls', `alias ${folder}/hls`],
      ['listen 8090;', `listen 127.0.0.1:${hlsPort};\n        access_log ${folder}/access.log;`],
    ]
    let text = configuration
    for (const [from, to] of changes) {
      if (!text.includes(from)) throw new Error(`the configuration has no "${from}"`)
      text = text.replaceAll(from, to)
    }
    writeFileSync(file, text)
    return new NginxRtmp(rtmpPort, hlsPort, folder, file)
  }

  get configurationFile(): string {
    return this.#file
  }

  start(): void {
    const { folder } = this
    const words = ['-p', folder, '-c', this.#file, '-e', join(folder, 'error.log'), '-g', 'daemon off;']
    this.#child = Bun.spawn([TEST_NGINX, ...words], { stdout: 'ignore', stderr: 'inherit' })
  }

  async stop(): Promise<void> {
    this.#child?.kill('SIGTERM')
    await this.#child?.exited
  }

  /** All that it has written: logs, and the names and contents of its files. */
  written(): string {
    const naive = join(this.folder, 'naive/*')
    const { stdout } = Bun.spawnSync([
      'find',
      this.folder,
      '-not',
      '-name',
      'nginx.conf',
      '-not',
      '-path',
      naive,
    ])
    const logs = ['error.log', 'access.log'].map(name => {
      try {
        return readFileSync(join(this.folder, name), 'utf8')
      } catch {
        return ''
      }
    })
    const lists = Bun.spawnSync(['sh', '-c', `cat '${this.folder}'/hls/*.m3u8 2>/dev/null`]).stdout
    return [stdout, ...logs, lists].join('\n')
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
