/**
 * docs/production.md, followed from top to bottom: its commands are run in the order of the page, once with each proxy.
 * Folders of the system are replaced by one of the test and ports by free ones; programs that would change this machine are
 * replaced by stand-ins, which record how they were called. What systemd would start, this file starts from the units.
 */
import { afterEach, describe, expect, test } from 'bun:test'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endAllProcesses, ROOT, STRAND_IN_SHELL, StrandProcess } from '../support/cli/strand-process.ts'
import { Encoders, hasEncoder } from '../support/media/encoder.ts'
import { CertificateAuthority } from '../support/server/certificate.ts'
import { freePort } from '../support/store/postgres.ts'

const HOST = 'live.example.org'
const PROXIES = {
  Caddy: process.env.TEST_CADDY || undefined,
  nginx: process.env.TEST_NGINX || undefined,
}
type Proxy = keyof typeof PROXIES

/** Requests of one address in a minute: few, so that the limit is met before it grows again. */
const RATE = 20

interface Block {
  /** The heading above it. */
  readonly section: string
  readonly script: string
}

const page = readFileSync(join(ROOT, 'docs/production.md'), 'utf8')
const blocks = readBlocks(page)
const isProxy = (section: string): section is Proxy => section in PROXIES

function readBlocks(text: string): readonly Block[] {
  const found: Block[] = []
  let section = ''
  for (const [, heading, script] of text.matchAll(/^#+ ([^\n]*)$|^```sh\n(.*?)^```/gms)) {
    if (script === undefined) section = heading ?? ''
    else found.push({ section, script })
  }
  return found
}

const machines = new Set<Machine>()
afterEach(async () => {
  for (const machine of machines) await machine.remove()
  machines.clear()
  await endAllProcesses()
})

/** The server of the page, as far as a test may have one. */
class Machine {
  readonly folder = mkdtempSync(join(tmpdir(), 'strand-production-'))
  readonly calls: string[] = []
  readonly #calls = join(this.folder, 'calls')
  readonly #ports = new Map<number, number>()
  readonly #proxies: Bun.Subprocess[] = []
  strand: StrandProcess | undefined

  static async create(): Promise<Machine> {
    const machine = new Machine()
    machines.add(machine)
    for (const port of [80, 443, 1935, 8080, 8081]) machine.#ports.set(port, await freePort())
    for (const folder of [
      'bin',
      'etc/systemd/system',
      'etc/caddy',
      'etc/nginx/conf.d',
      'var/www/html',
      'usr/local/bin',
    ])
      mkdirSync(join(machine.folder, folder), { recursive: true })
    mkdirSync(join(machine.folder, 'checkout/dist'), { recursive: true })
    symlinkSync(join(ROOT, 'deploy'), join(machine.folder, 'checkout/deploy'))
    machine.#writePrograms()
    return machine
  }

  port(documented: number): number {
    return this.#ports.get(documented) ?? documented
  }

  /** A path of the system in the folder of this machine. */
  path(path: string): string {
    return join(this.folder, path)
  }

  /** The build is tested elsewhere; here its result is the program under test. */
  #writePrograms(): void {
    const authority = new CertificateAuthority()
    const { cert, key } = authority.issue(HOST)
    writeFileSync(this.path('authority.pem'), authority.cert)
    writeFileSync(this.path('fullchain.pem'), cert)
    writeFileSync(this.path('privkey.pem'), key)
    writeFileSync(this.path('built'), `#!/bin/sh\nexec ${STRAND_IN_SHELL} "$@"\n`, { mode: 0o755 })
    const certificates = this.path(`etc/letsencrypt/live/${HOST}`)
    const doubles: Record<string, string> = {
      systemctl: '',
      'apt-get': '',
      ufw: '',
      git: '',
      npm: `cp ${this.path('built')} dist/strand`,
      certbot: `mkdir -p ${certificates}; cp ${this.path('fullchain.pem')} ${this.path('privkey.pem')} ${certificates}`,
      // Of the system, but with the files of this machine.
      nginx: `exec ${PROXIES.nginx} -e ${this.path('error.log')} -p ${this.folder} -c ${this.path('etc/nginx/nginx.conf')} "$@"`,
    }
    for (const [name, line] of Object.entries(doubles)) {
      const program = join(this.folder, 'bin', name)
      writeFileSync(program, `#!/bin/sh\nset -e\necho "${name} $*" >> ${this.#calls}\n${line}\n`)
      chmodSync(program, 0o755)
    }
    // As Debian's file, as far as it matters: files of conf.d are read.
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      kind => `${kind}_temp_path ${this.path(kind)};`,
    )
    writeFileSync(
      this.path('etc/nginx/nginx.conf'),
      `pid ${this.path('nginx.pid')};
events {}
http { access_log off; ${temporary.join(' ')} include ${this.path('etc/nginx/conf.d')}/*.conf; }
`,
    )
  }

  /** Folders and ports of this machine in place of those of the system. */
  #here(text: string): string {
    return text
      .replaceAll(/(?<![\w.])\/(etc|usr\/local|var)\//g, `${this.folder}/$1/`)
      .replaceAll(
        /\b(127\.0\.0\.1|localhost|0\.0\.0\.0):(\d+)/g,
        (_, host, port) => `${host}:${this.port(Number(port))}`,
      )
      .replaceAll(
        /listen (\[::\]:)?(\d+)/g,
        (_, ipv6 = '', port) => `listen ${ipv6}${this.port(Number(port))}`,
      )
  }

  /** Runs the commands of a block, and does what systemd would have done. */
  async run({ section, script }: Block): Promise<string> {
    const shell = Bun.spawn(['bash', '-euo', 'pipefail', '-c', this.#here(script)], {
      cwd: this.path('checkout'),
      env: {
        PATH: `${this.path('bin')}:${this.path('usr/local/bin')}:${process.env.PATH}`,
        XDG_CONFIG_HOME: this.path('config'),
        CURL_HOME: this.#curlHome(),
      },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, err] = await Promise.all([
      new Response(shell.stdout).text(),
      new Response(shell.stderr).text(),
    ])
    expect([section, await shell.exited, (await shell.exited) === 0 ? '' : err]).toEqual([section, 0, ''])
    await this.#serveCalls()
    return out
  }

  #curlHome(): string {
    writeFileSync(
      this.path('.curlrc'),
      `connect-to = "${HOST}:443:127.0.0.1:${this.port(443)}"\ncacert = "${this.path('authority.pem')}"\nsilent\n`,
    )
    return this.folder
  }

  async #serveCalls(): Promise<void> {
    const called = existsSync(this.#calls) ? readFileSync(this.#calls, 'utf8').trim().split('\n') : []
    for (const call of called.slice(this.calls.length)) {
      this.calls.push(call)
      if (call === 'systemctl enable --now strand') await this.#startStrand()
      if (call === 'systemctl restart strand') {
        expect(await this.strand?.end('SIGTERM')).toBe(0)
        await this.#startStrand()
      }
      if (call === 'systemctl start strand-backup') this.#backUp()
      if (call === 'systemctl reload caddy') await this.#startCaddy()
      if (call === 'systemctl reload nginx')
        await this.#startProxy([this.path('bin/nginx'), '-g', 'daemon off;'])
    }
  }

  /** A unit as it was installed. */
  #unit(
    name: string,
    state: string,
  ): { readonly commands: string[]; readonly environment: Record<string, string> } {
    const unit = this.#here(readFileSync(this.path(`etc/systemd/system/${name}`), 'utf8'))
      .replaceAll('%S', this.path('var/lib'))
      .replaceAll('%%', '%')
    const values = (key: string) =>
      [...unit.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value)
    mkdirSync(join(this.path('var/lib'), state), { recursive: true, mode: 0o700 })
    const files = values('EnvironmentFile').flatMap(file =>
      this.#here(readFileSync(file.replace(/^-/, ''), 'utf8'))
        .trim()
        .split('\n'),
    )
    const lines = [...values('Environment').flatMap(value => value.split(' ')), ...files]
    return {
      commands: values('ExecStart'),
      environment: Object.fromEntries(
        lines.map(line => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
      ),
    }
  }

  async #startStrand(): Promise<void> {
    const { commands, environment } = this.#unit('strand.service', 'strand')
    writeFileSync(this.path('settings'), '#')
    const line = (commands[0] ?? '').replace('--notify ', '')
    this.strand = new StrandProcess(['-c', `exec ${line}`], {
      command: ['sh'],
      cwd: this.folder,
      environment: {
        ...environment,
        CREDENTIALS_DIRECTORY: this.folder,
        STRAND_RATE_ANONYMOUS: String(RATE),
      },
    })
    await this.strand.serving()
  }

  #backUp(): void {
    const { commands, environment } = this.#unit('strand-backup.service', 'strand-backups')
    for (const command of commands) {
      const [, line = ''] = /^\/bin\/sh -c '(.*)'$/.exec(command) ?? []
      const { exitCode, stderr } = Bun.spawnSync(['/bin/sh', '-c', line], {
        env: { PATH: process.env.PATH, CREDENTIALS_DIRECTORY: this.path('etc/strand'), ...environment },
      })
      expect([line, exitCode, exitCode === 0 ? '' : stderr.toString()]).toEqual([line, 0, ''])
    }
  }

  /** With certificates of an authority of Caddy's own, because no other authority knows the name; otherwise the file as it is. */
  async #startCaddy(): Promise<void> {
    const file = this.path('etc/caddy/Caddyfile')
    const site = readFileSync(file, 'utf8')
    const options = [
      'admin off',
      'local_certs',
      'skip_install_trust',
      `http_port ${this.port(80)}`,
      `https_port ${this.port(443)}`,
    ]
    writeFileSync(file, `{\n${options.join('\n')}\n}\n${site}`)
    const environment = {
      HOME: this.folder,
      XDG_DATA_HOME: this.path('caddy'),
      XDG_CONFIG_HOME: this.path('caddy'),
    }
    const words = ['--config', file, '--adapter', 'caddyfile']
    const valid = Bun.spawnSync([PROXIES.Caddy ?? '', 'validate', ...words], { env: environment })
    expect([valid.exitCode, valid.exitCode === 0 ? '' : valid.stderr.toString()]).toEqual([0, ''])
    await this.#startProxy([PROXIES.Caddy ?? '', 'run', ...words], environment)
    const root = this.path('caddy/caddy/pki/authorities/local/root.crt')
    writeFileSync(this.path('authority.pem'), readFileSync(root))
  }

  async #startProxy(command: string[], environment: Record<string, string> = {}): Promise<void> {
    const proxy = Bun.spawn(command, {
      env: { PATH: process.env.PATH, ...environment },
      stdout: 'ignore',
      stderr: 'pipe',
    })
    this.#proxies.push(proxy)
    while ((await this.curl('-k -o /dev/null /healthz')).code !== 0) {
      if (proxy.exitCode !== null) throw new Error(await new Response(proxy.stderr).text())
      await Bun.sleep(50)
    }
  }

  /** Asks the site by its name; the last word is a path. An answer without an end is read until it contains a text. */
  async curl(words: string, until?: string): Promise<{ readonly code: number; readonly text: string }> {
    const given = words.split(' ')
    const curl = Bun.spawn(['curl', '-N', ...given.slice(0, -1), `https://${HOST}${given.at(-1)}`], {
      env: { PATH: process.env.PATH, CURL_HOME: this.#curlHome() },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
    })
    const decoder = new TextDecoder()
    let text = ''
    for await (const piece of curl.stdout) {
      text += decoder.decode(piece, { stream: true })
      if (until !== undefined && text.includes(until)) curl.kill()
    }
    return { code: await curl.exited, text }
  }

  async remove(): Promise<void> {
    for (const proxy of this.#proxies) {
      proxy.kill('SIGTERM')
      await proxy.exited
    }
    await this.strand?.end('SIGTERM')
    rmSync(this.folder, { recursive: true, force: true })
  }
}

test('the page has its steps in order, each with commands', () => {
  expect(blocks.map(({ section }) => section)).toEqual([
    '1. Install',
    '2. Settings',
    '3. Start',
    'Caddy',
    'nginx',
    '5. Open the ports',
    '6. Check',
    '7. Back up',
    '8. Update',
  ])
})

describe.each(Object.keys(PROXIES) as Proxy[])('the page with %s', proxy => {
  test.skipIf(PROXIES[proxy] === undefined)(
    'leads to a site with TLS that knows its visitors, a backup and an update',
    async () => {
      const machine = await Machine.create()
      for (const block of blocks.filter(({ section }) => !isProxy(section) || section === proxy)) {
        const printed = await machine.run(block)
        if (block.section === '6. Check') {
          expect(printed).toContain('ready')
          await expectSite(machine)
        }
      }
      expect(machine.calls.filter(call => call.startsWith('ufw'))).toEqual(
        [80, 443, 1935].map(port => `ufw allow ${port}/tcp`),
      )
      const weekday = Bun.spawnSync(['date', '+%u']).stdout.toString().trim()
      expect(existsSync(machine.path(`var/lib/strand-backups/strand-${weekday}.tar`))).toBe(true)
      // After the update.
      expect((await machine.curl('-f /readyz')).code).toBe(0)
    },
    180_000,
  )
})

async function expectSite(machine: Machine): Promise<void> {
  expect((await machine.curl('-f /signup')).text).toContain('name="password"')
  expect((await machine.curl('-o /dev/null -w %{http_code} /control/users')).text).toBe('404')

  // Each visitor has the limit of one address, and cannot choose another one.
  const statuses = async (address: string, header: string) =>
    (
      await machine.curl(
        `--interface ${address} -H ${header} -o /dev/null -w %{http_code}\\n /helix/streams?[1-${3 * RATE}]`,
      )
    ).text
  expect(await statuses('127.0.0.2', 'X-Forwarded-For:203.0.113.7')).toContain('429')
  expect(await statuses('127.0.0.2', 'X-Forwarded-For:203.0.113.8')).toStartWith('429')
  expect(await statuses('127.0.0.3', 'X-Forwarded-For:127.0.0.2')).toStartWith('200')

  const lookup = ['user_login', 'user_id', 'game_id']
    .flatMap(name => Array.from({ length: 100 }, (_, n) => `${name}=${String(n).padStart(25, '1')}`))
    .join('&')
  expect((await machine.curl(`--http1.1 -o /dev/null -w %{http_code} /helix/streams?${lookup}`)).text).toBe(
    '200',
  )

  writeFileSync(machine.path('large'), 'x'.repeat(100_000))
  const large = await machine.curl(`-X POST --data-binary @${machine.path('large')} /oauth2/token`)
  expect(JSON.parse(large.text)).toMatchObject({ status: 413 })

  const upgrade = '--http1.1 -i -H Connection:Upgrade -H Upgrade:websocket -H Sec-WebSocket-Version:13'
  const socket = await machine.curl(
    `${upgrade} -H Sec-WebSocket-Key:AAAAAAAAAAAAAAAAAAAAAA== /ws`,
    'session_welcome',
  )
  expect(socket.text).toStartWith('HTTP/1.1 101 ')

  if (hasEncoder) await expectBroadcast(machine)
}

/** From the key to the video at the viewer. */
async function expectBroadcast(machine: Machine): Promise<void> {
  await machine.run({ section: 'a broadcaster', script: 'strand user create lunar_otter' })
  const key = await machine.run({ section: 'the key', script: 'strand key show lunar_otter --yes --json' })
  const { stream_key } = JSON.parse(key).data[0]
  const encoders = new Encoders()
  try {
    await encoders.prepare()
    encoders.publish(`rtmp://localhost:${machine.port(1935)}/live/${stream_key}`)
    const list = { section: 'what is live', script: 'strand stream list --json' }
    while (!(await machine.run(list)).includes('lunar_otter')) await Bun.sleep(100)
    const video = await machine.curl('/live/lunar_otter.m3u8', '#EXTM3U')
    expect(video.text).toStartWith('#EXTM3U')
  } finally {
    await encoders.remove()
  }
}
