/** What people see: the command in a real pseudo-terminal of 80 and 130 columns. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { verbs } from '../../src/cli/verbs/table.ts'
import { onTerminal, TerminalProcess } from '../support/cli/pseudo-terminal.ts'
import { type Environment, endAllProcesses, ROOT, StrandProcess } from '../support/cli/strand-process.ts'
import { startTestServer, type TestServer } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'

const WIDTHS = [80, 130] as const
const CTRL_C = '\x03'
const NODE = Bun.which('node') ?? 'node'
const LAUNCHED = [NODE, join(ROOT, 'bin/strand.js')]

const folder = mkdtempSync(join(tmpdir(), 'strand-terminal-'))
let server: TestServer
let environment: Environment = {}

beforeAll(async () => {
  server = await startTestServer('sqlite', { streams: 30 })
  environment = {
    STRAND_URL: server.url,
    STRAND_OPERATOR_TOKEN: server.world.operator_token,
    TZ: 'Asia/Tokyo',
  }
  const { broadcaster } = server.world
  await server.control('PATCH', `/channels/${broadcaster.id}`, {
    title: 'A title that is far too long for one line of a terminal, 世界 '.repeat(2).trim(),
  })
  await server.control('PUT', '/media-servers/edge-1', {
    adapter: 'nginx-rtmp',
    api_url: 'http://127.0.0.1:8088',
  })
  await server.control('POST', '/operators', { name: 'night-shift' })
  await server.control('POST', `/channels/${broadcaster.id}/stream-keys`, { name: 'guest' })
})
afterAll(async () => {
  await endAllProcesses()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

const at = (columns: number, line: string, more: Environment = {}) =>
  onTerminal(line.split(' '), { columns, cwd: folder, environment: { ...environment, ...more } })

/** The same in a pipe. */
async function piped(line: string, more: Environment = {}) {
  const strand = new StrandProcess(line.split(' '), { cwd: folder, environment: { ...environment, ...more } })
  return { code: await strand.exit(), stdout: strand.stdout, stderr: strand.stderr }
}

const widest = (lines: readonly string[]) => Math.max(...lines.map(line => Bun.stringWidth(line)))

describe('lists', () => {
  const argumentsOf: Readonly<Record<string, () => string>> = {
    'org member list': () => server.world.organization.id,
    'editor list': () => server.world.broadcaster.login,
    'key list': () => server.world.broadcaster.login,
    'follow list': () => server.world.broadcaster.login,
  }
  const lists = verbs.filter(({ operation }) => operation.page !== undefined)

  test('there are many', () => expect(lists.length).toBeGreaterThan(18))

  for (const columns of WIDTHS) {
    for (const { words } of lists) {
      test(`strand ${words} fits ${columns} columns`, async () => {
        const [entitlement] = await server.control('GET', '/entitlements?first=1')
        const given = words === 'entitlement history' ? entitlement.id : (argumentsOf[words]?.() ?? '')
        const { code, lines, raw } = await at(columns, `${words} ${given}`.trim())
        expect([code, widest(lines) <= columns ? 'fits' : lines.join('\n')]).toEqual([0, 'fits'])
        // The heading has a style, unless the list is empty.
        expect(raw.includes('\x1b[2m') || raw.includes('No rows.')).toBe(true)
      })
    }
  }

  test('names stand beside ids, numbers are grouped and end in one column', async () => {
    const { lines } = await at(130, 'stream list --first 5')
    const [heading = '', ...rows] = lines.filter(line => line !== '' && !line.startsWith('More rows'))
    expect(heading.split(/ {2,}/)).toEqual(['CHANNEL', 'GAME', 'VIEWERS', 'STARTED', 'TITLE'])
    const end = heading.indexOf('VIEWERS') + 'VIEWERS'.length
    for (const row of rows) {
      expect(row).toMatch(/^[a-z_0-9]+ \d+ {2,}\S.* \d+ {2,}[\d,]+ {2}\d{4}-\d\d-\d\d /)
      expect(row.slice(0, end)).toMatch(/\d$/)
    }
    const entitlements = (await at(130, 'entitlement list --first 3')).lines
    expect(entitlements[0]?.split(/ {2,}/)).toEqual(['ID', 'USER', 'BENEFIT', 'GAME', 'STATUS', 'GRANTED'])
    const { data } = JSON.parse((await piped('entitlement list --first 1 --json')).stdout)
    const benefit = await server.control('GET', `/benefits/${data[0].benefit_id}`)
    expect(entitlements[1]).toContain(benefit[0].name)
  })

  test('times are local, and UTC with --utc', async () => {
    const line = `user show ${server.world.broadcaster.login}`
    const { data } = JSON.parse((await piped(`${line} --json`)).stdout)
    const { created_at } = data[0]
    const tokyo = new Date(Date.parse(created_at) + 9 * 3_600_000).toISOString()
    const shown = (iso: string) => `${iso.slice(0, 10)} ${iso.slice(11, 19)}`
    expect((await at(80, line)).raw).toContain(shown(tokyo))
    expect((await at(80, `${line} --utc`)).raw).toContain(`${shown(created_at)}Z`)
  })

  test('a pipe gets the fields and values of the API, on one line each, without colour', async () => {
    const { stdout } = await piped('stream list --first 3', { NO_COLOR: '' })
    const [heading = '', first = ''] = stdout.split('\n')
    expect(heading.split(/ {2,}/)).toEqual([
      'USER ID',
      'USER LOGIN',
      'GAME NAME',
      'VIEWER COUNT',
      'STARTED AT',
      'TITLE',
    ])
    expect(first).toMatch(/^\d+ .*\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/)
    expect(stdout).not.toContain('\x1b')
    const forced = await piped('stream list --first 3', { NO_COLOR: '', FORCE_COLOR: '1' })
    expect(forced.stdout).toContain('\x1b[2mUSER ID')
    expect(Bun.stripANSI(forced.stdout).split('\n')[0]).toBe(heading)
  })

  test('NO_COLOR is respected on a terminal', async () => {
    expect((await at(80, 'game list', { NO_COLOR: '1' })).raw).not.toContain('\x1b[')
    expect((await at(80, 'game list')).raw).toContain('\x1b[2mID')
  })

  test('an empty list leaves a file as it is', async () => {
    const file = join(folder, 'kept')
    writeFileSync(file, '')
    const line = `exec >> ${file}; echo before; ${process.env.TEST_STRAND ?? 'strand'} event list; echo after`
    const shell = new StrandProcess([line], { command: ['bash', '-c'], cwd: folder, environment })
    expect(await shell.exit()).toBe(0)
    expect(readFileSync(file, 'utf8')).toBe('before\nafter\n')
  })
})

describe('help, checks and the status', () => {
  for (const line of ['status', 'help user create', 'doctor --help', 'event tail --help', 'profile list']) {
    test(`strand ${line} fits 80 columns`, async () => {
      const { code, lines } = await at(80, line)
      expect([code, widest(lines) <= 80 ? 'fits' : lines.join('\n')]).toEqual([0, 'fits'])
    })
  }

  test('strand help user create is the help of that command', async () => {
    const { code, stdout } = await piped('help user create')
    expect([code, stdout]).toEqual([0, (await piped('user create --help')).stdout])
    expect((await piped('help')).stdout).toBe((await piped('--help')).stdout)
    const wrong = await piped('help user crate')
    expect([wrong.code, wrong.stderr]).toEqual([
      2,
      "strand: unknown command 'strand user crate': did you mean strand user create?\n",
    ])
  })
})

describe('strand stream list --watch', () => {
  test('repaints what changes, fits a new size, and ends with 130 at Ctrl-C', async () => {
    const options = { columns: 130, rows: 12, cwd: folder, environment }
    const watching = new TerminalProcess(['stream', 'list', '--watch'], options)
    await watching.until(raw => raw.includes('every 2 s, Ctrl-C ends') && raw.includes('… '))
    expect(watching.raw).toStartWith('\x1b[?1049h\x1b[?25l')
    const { id } = server.world.broadcaster
    await server.control('POST', '/viewers', { counts: { [id]: 987_654 } })
    await watching.until(raw => raw.includes('987,654'))
    const before = watching.raw.length
    watching.resize(80, 6)
    await watching.until(raw => raw.slice(before).split('\x1b[H').length > 2)
    const last = Bun.stripANSI(watching.raw.split('\x1b[H').at(-1) ?? '').split('\r\n')
    expect([last.length, widest(last) <= 80]).toEqual([6, true])
    watching.type(CTRL_C)
    const { code, raw } = await watching.exit()
    expect([code, raw.endsWith('\x1b[?25h\x1b[?1049l')]).toEqual([130, true])
  })

  test('2 with --json or --all', async () => {
    for (const flag of ['--json', '--all']) {
      const { code, lines } = await at(80, `stream list --watch ${flag}`)
      expect([code, lines[0]]).toEqual([2, `strand: --watch cannot be combined with ${flag}`])
    }
  })
})

describe('secrets', () => {
  const key = async () =>
    (await server.control('GET', `/channels/${server.world.broadcaster.id}/stream-key`))[0]
      .stream_key as string

  test('strand key show asks before it prints on a terminal', async () => {
    const secret = await key()
    const line = ['key', 'show', server.world.broadcaster.login]
    for (const [answer, code] of [
      ['n', 1],
      ['y', 0],
    ] as const) {
      const asking = new TerminalProcess(line, { columns: 80, cwd: folder, environment })
      await asking.until(raw => raw.includes('[y/N]'))
      expect(asking.raw).not.toContain(secret)
      asking.type(`${answer}\r`)
      const shown = await asking.exit()
      expect([shown.code, shown.raw.includes(secret)]).toEqual([code, code === 0])
    }
    const confirmed = await at(80, `${line.join(' ')} --yes`)
    expect([confirmed.code, confirmed.raw.includes('[y/N]'), confirmed.raw.includes(secret)]).toEqual([
      0,
      false,
      true,
    ])
    expect((await piped(line.join(' '))).stdout).toContain(secret)
  })

  test('strand login reads the token without echo', async () => {
    const token = server.world.operator_token
    const settings = { ...environment, STRAND_OPERATOR_TOKEN: '', XDG_CONFIG_HOME: join(folder, 'config') }
    const words = ['login', server.url]
    const asking = new TerminalProcess(words, { columns: 80, cwd: folder, environment: settings })
    await asking.until(raw => raw.includes('Operator token of '))
    asking.type(`${token}\r`)
    const { code, raw } = await asking.exit()
    expect([code, raw.includes(token), raw.includes('Logged in to')]).toEqual([0, false, true])
    expect(readFileSync(join(folder, 'config/strand/profiles.json'), 'utf8')).toContain(token)
  })
})

describe('an import', () => {
  const file = join(folder, 'many.ndjson')
  const LINES = 120_000
  beforeAll(() => {
    const lines = Array.from({ length: LINES }, (_, n) =>
      JSON.stringify({ type: 'game', id: String(n + 1), name: `Game ${n}` }),
    )
    writeFileSync(file, `${lines.join('\n')}\n`)
  })

  /** Every state of the progress line. */
  const drawn = (raw: string) =>
    Bun.stripANSI(raw)
      .split(/\r|\n/)
      // What the terminal shows for Ctrl-C itself.
      .map(line => line.replace(/\^C$/, ''))
  const count = async (data: string) => {
    const strand = await piped(`game list --all --json --first 100 --data ${data}`, { STRAND_URL: '' })
    return JSON.parse(strand.stdout).data.length as number
  }

  for (const [name, command] of [
    ['strand', undefined],
    ['bin/strand.js', LAUNCHED],
  ] as const) {
    test(`130 Ctrl-C reports how far ${name} got, and the command resumes it`, async () => {
      const data = join(folder, `data of ${name.replace('/', ' ')}`)
      const options = { columns: 80, cwd: folder, environment: { ...environment, STRAND_URL: '' } }
      const importing = new TerminalProcess(['import', '--data', data, 'many.ndjson'], {
        ...options,
        ...(command && { command }),
      })
      await importing.until(raw => /Importing {2}\[#+\.*\] +[1-9]/.test(raw))
      // A terminal drops what it has not shown yet when the key is pressed.
      const shown = importing.raw
      importing.type(CTRL_C)
      const { code, raw, lines } = await importing.exit()
      expect(code).toBe(130)
      const [, reached = ''] = /interrupted: ([\d,]+) lines are imported, up to line \d+/.exec(raw) ?? []
      const line = Number(reached.replaceAll(',', ''))
      expect([line > 0, line < LINES]).toEqual([true, true])
      expect(widest(drawn(shown).filter(each => /^(Checking|Importing)/.test(each)))).toBeLessThanOrEqual(79)
      const [resume = ''] = lines.filter(each => each.startsWith('Resume: strand '))
      expect(resume).toBe(`Resume: strand import --from-line ${line + 1} --data '${data}' many.ndjson`)
      const rest = await onTerminal(
        ['import', '--from-line', String(line + 1), '--data', data, 'many.ndjson'],
        {
          ...options,
          columns: 130,
        },
      )
      expect([rest.code, rest.lines.find(each => each.startsWith('game '))?.split(/ +/)]).toEqual([
        0,
        ['game', (LINES - line).toLocaleString('en-US'), '0', '0'],
      ])
    })
  }

  test('130 while lines are checked, nothing was changed', async () => {
    const options = { columns: 80, cwd: folder, environment: { ...environment, STRAND_URL: '' } }
    // On a busy machine the key may come when all lines are checked: then once more.
    for (let attempt = 1; ; attempt++) {
      const data = join(folder, `checked-${attempt}`)
      const importing = new TerminalProcess(['import', '--data', data, 'many.ndjson'], options)
      await importing.until(raw => raw.includes('Checking'))
      importing.type(CTRL_C)
      const { code, raw } = await importing.exit()
      if (raw.includes('Importing') && attempt < 5) continue
      expect([code, raw.includes('interrupted: nothing was changed')]).toEqual([130, true])
      expect(await count(data)).toBe(0)
      return
    }
  })

  test('130 on a server, whose last report counts', async () => {
    const importing = new TerminalProcess(['import', 'many.ndjson'], {
      columns: 80,
      cwd: folder,
      environment,
    })
    await importing.until(raw => raw.includes('Importing'))
    importing.type(CTRL_C)
    const { code, raw } = await importing.exit()
    expect([code, raw]).toEqual([
      130,
      expect.stringMatching(/interrupted: at least [\d,]+ lines are imported|interrupted before the server/),
    ])
  })
})

describe('serving', () => {
  /** Starts it, waits for a text, and ends it with Ctrl-C. */
  async function served(words: readonly string[], text: RegExp, more: Environment = {}) {
    const given = { ...more, TZ: 'UTC' }
    const serving = new TerminalProcess(words, { columns: 80, cwd: folder, environment: given })
    await serving.until(raw => text.test(raw))
    const screen = serving.raw
    serving.type(CTRL_C)
    return { ...(await serving.exit()), screen }
  }

  test('the first serve names the operator token and what to do next; the second does not', async () => {
    const port = await freePort()
    const words = ['serve', '--port', String(port), '--data', 'fresh']
    const first = await served(words, /strand open\r\n/)
    expect(first.screen).toContain('in the file fresh/operator-token')
    expect(first.screen).toContain(`strand login http://localhost:${port} < fresh/operator-token`)
    expect(first.screen).toContain(`http://localhost:${port}/console`)
    expect(existsSync(join(folder, 'fresh/operator-token'))).toBe(true)
    const second = await served(words, /serving/)
    expect([first.code, second.code, second.raw.includes('new installation')]).toEqual([0, 0, false])
  })

  test('the same for programs is one line of the log, without the token', async () => {
    const strand = new StrandProcess(['serve', '--port', '0', '--data', 'other'], { cwd: folder })
    await strand.until(({ stderr }) => stderr.includes('created a new installation'))
    const [line = ''] = strand.stderr.split('\n').filter(each => each.includes('new installation'))
    expect(JSON.parse(line)).toMatchObject({ operator_token: 'other/operator-token' })
    expect(strand.stderr).not.toContain(readFileSync(join(folder, 'other/operator-token'), 'utf8').trim())
    expect(await strand.end('SIGTERM')).toBe(0)
  })

  test('serve --port and demo --listen; the port in use names the flag', async () => {
    const port = await freePort()
    const words = ['demo', '--listen', `127.0.0.1:${port}`, '--no-rtmp', '--streams', '3', '--json']
    const demo = new StrandProcess(words, { cwd: folder })
    const world = JSON.parse(await demo.until(({ stdout }) => stdout.endsWith('\n') && stdout))
    expect(world.base_url).toBe(`http://localhost:${port}`)
    for (const line of [`serve --port ${port} --data third`, `demo --port ${port} --no-rtmp`]) {
      const taken = await piped(line, { STRAND_LISTEN: '127.0.0.1:1' })
      expect([taken.code, taken.stderr]).toEqual([
        1,
        `strand: port ${port} is in use: choose another with --port (or STRAND_LISTEN), or stop the other program\n`,
      ])
    }
    const operator = await piped(`serve --port 0 --operator-listen 127.0.0.1:${port} --data third`)
    expect(operator.stderr).toContain('choose another with --operator-listen (or STRAND_OPERATOR_LISTEN)')
    for (const command of ['serve', 'demo']) {
      const both = await piped(`${command} --port ${port} --listen 127.0.0.1:1`)
      expect([both.code, both.stderr]).toEqual([2, 'strand: --port cannot be combined with --listen\n'])
    }
    expect((await piped('demo --listen nonsense')).code).toBe(2)
    expect(await demo.end('SIGTERM')).toBe(0)
  })

  test('a demo in a terminal ends at Ctrl-C through the launcher, with its folder removed', async () => {
    const temporary = join(folder, 'temporary')
    mkdirSync(temporary)
    const words = ['demo', '--port', String(await freePort()), '--no-rtmp', '--streams', '3']
    const demo = new TerminalProcess(words, {
      columns: 80,
      cwd: folder,
      command: LAUNCHED,
      environment: { TMPDIR: temporary },
    })
    await demo.until(raw => raw.includes('/docs'))
    demo.type(CTRL_C)
    const { code, raw } = await demo.exit()
    expect([
      code,
      raw.includes('stopped'),
      [...new Bun.Glob('strand-demo-*').scanSync({ cwd: temporary, onlyFiles: false })],
    ]).toEqual([0, true, []])
  })
})
