/** Servers that `strand login` stored, and the commands that use them: status, open, and every verb. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Shell } from '../support/cli/shell.ts'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const shell = new Shell()
const folder = join(shell.folder, 'config')
const file = join(folder, 'strand', 'profiles.json')
const HERE = { XDG_CONFIG_HOME: folder }
let server: TestServer
let token = ''

beforeAll(async () => {
  server = await startTestServer('sqlite', { streams: 3 })
  token = server.world.operator_token
  shell.write('token', `${token}\n`)
})
afterAll(async () => {
  await endAllProcesses()
  await server.stop()
  shell.remove()
})

const run = (line: string, environment: Record<string, string> = {}) =>
  shell.run(line, { ...HERE, ...environment })
const login = (flags = '') => run(`strand login ${server.url} ${flags} < token`)
const stored = () => JSON.parse(readFileSync(file, 'utf8'))

describe('strand login', () => {
  test('1 a wrong token is refused, and nothing is stored', async () => {
    shell.write('wrong', 'not-the-operator-token-at-all\n')
    const refused = await run(`strand login ${server.url} < wrong`)
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      1,
      '',
      expect.stringContaining('returned 401: The operator token is invalid'),
    ])
    expect(existsSync(folder)).toBe(false)
  })

  test.each([
    ['an argument', () => `strand login ${server.url} ${token} < token`, 'too many arguments'],
    ['a flag', () => `strand login ${server.url} --token ${token} < token`, "unknown option '--token'"],
    [
      'part of the URL',
      () => 'strand login http://me:secret@localhost:1 < token',
      'must have no user, password',
    ],
    ['empty', () => `strand login ${server.url} < /dev/null`, 'missing operator token'],
  ])('2 a token is never %s', async (_, line, message) => {
    const refused = await run(line())
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(message)])
    expect(existsSync(folder)).toBe(false)
  })

  test('0 the profile is stored where only the user can read it, and is the current one', async () => {
    const { code, stdout, stderr } = await login('--profile demo')
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`Logged in to ${server.url}.`)
    expect(stdout).not.toContain(token)
    expect([statSync(file).mode & 0o777, statSync(join(folder, 'strand')).mode & 0o777]).toEqual([
      0o600, 0o700,
    ])
    expect(readdirSync(join(folder, 'strand'))).toEqual(['profiles.json'])
    expect(stored()).toEqual({ current: 'demo', profiles: [{ name: 'demo', url: server.url, token }] })
  })

  test('0 a verb uses it without flags, from any folder', async () => {
    const users = await run('strand user list --first 3 --json')
    expect([users.code, JSON.parse(users.stdout).data]).toEqual([0, expect.any(Array)])
    const exported = await run('strand export world.ndjson --yes --json')
    expect(JSON.parse(exported.stdout).lines).toBeGreaterThan(10)
    expect((await run('strand user delete lunar_otter')).stderr).toContain(`Continue on ${server.url}?`)
  })
})

describe('flags take precedence over the environment, and the environment over the profile', () => {
  const where = async (line: string, environment: Record<string, string> = {}) => {
    const { stdout, stderr } = await run(`${line} --json`, environment)
    return stdout === '' ? stderr : JSON.parse(stdout).data.length
  }
  beforeAll(async () => {
    await shell.output('strand migrate --data local && strand user set 1 --login only_one --data local')
    await shell.output('strand migrate --data empty')
  })

  test('--data, then STRAND_DATA, then the profile', async () => {
    const local = { STRAND_DATA: 'local' }
    expect(await where('strand user list --data empty', local)).toBe(0)
    expect(await where('strand user list', local)).toBe(1)
    expect(await where('strand user list')).toBeGreaterThan(1)
  })

  test('--url and --profile, then STRAND_URL and STRAND_PROFILE, then STRAND_DATA', async () => {
    const local = { STRAND_DATA: 'local' }
    expect(await where(`strand user list --url ${server.url}`, local)).toBeGreaterThan(1)
    expect(await where('strand user list --profile demo', local)).toBeGreaterThan(1)
    expect(await where('strand user list', { ...local, STRAND_URL: server.url })).toBeGreaterThan(1)
    expect(await where('strand user list', { ...local, STRAND_PROFILE: 'demo' })).toBeGreaterThan(1)
    expect(await where('strand user list --data local', { STRAND_PROFILE: 'demo' })).toBe(1)
    expect(await where('strand user list --profile other')).toContain('no profile "other" (demo)')
  })

  test('a token of the environment wins over that of the profile, and a file over both', async () => {
    const wrong = { STRAND_OPERATOR_TOKEN: 'not-the-operator-token-at-all' }
    expect(await where('strand user list', wrong)).toContain('The operator token is invalid')
    expect(await where('strand user list --token-file token', wrong)).toBeGreaterThan(1)
  })

  test('2 what contradicts each other is refused', async () => {
    for (const flags of ['--url http://localhost:1 --profile demo', '--profile demo --data local']) {
      const refused = await run(`strand user list ${flags}`)
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('cannot be combined with')])
    }
  })

  test('the token of a profile is sent to no other server', async () => {
    const seen: (string | null)[] = []
    const other = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: request => {
        seen.push(request.headers.get('authorization'))
        return Response.json({ data: [], pagination: {} })
      },
    })
    const refused = await run(`strand user list --url http://127.0.0.1:${other.port}`)
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringContaining('--url requires the operator token'),
    ])
    expect(seen).toEqual([])
    await other.stop(true)
  })
})

describe('strand status', () => {
  test('0 one screen about a server', async () => {
    const { code, stdout } = await run('strand status')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Strand \d+\.\d+\.\d+ at http\S+: ready\n/)
    expect(stdout).toMatch(/^Live +3 streams, [\d,]+ viewers$/m)
    expect(stdout).toMatch(/^Store +embedded \(SQLite\)/m)
    expect(stdout).toMatch(/^Listeners +public +http\S+ +answers\n +operator +http\S+ +answers$/m)
    expect(stdout).toMatch(/^Problems +none$/m)
  })

  test('0 the same as JSON', async () => {
    const { stdout } = await run('strand status --json')
    expect(JSON.parse(stdout)).toMatchObject({
      server: server.url,
      state: 'ready',
      store: 'sqlite',
      live_streams: 3,
      problems: [],
    })
  })

  test('1 a server that does not answer, and a store without one', async () => {
    const gone = await run('strand status --url http://127.0.0.1:1 --token-file token')
    expect([gone.code, gone.stdout]).toEqual([1, expect.stringContaining('unreachable')])
    const alone = await run('strand status --data local --json', { STRAND_LISTEN: '127.0.0.1:1' })
    expect([alone.code, JSON.parse(alone.stdout)]).toEqual([
      1,
      expect.objectContaining({ state: 'not running', live_streams: 0, started_at: null }),
    ])
  })

  test('2 --watch without a terminal', async () => {
    for (const command of ['status', 'stream list']) {
      const refused = await run(`strand ${command} --watch`)
      expect([refused.code, refused.stderr]).toEqual([
        2,
        expect.stringContaining('--watch requires a terminal'),
      ])
    }
  })
})

describe('strand open', () => {
  test('prints the URL where there is no browser', async () => {
    const none = { BROWSER: '', DISPLAY: '', WAYLAND_DISPLAY: '' }
    if (process.platform === 'linux') {
      expect((await run('strand open', none)).stdout).toBe(`${server.url}/\n`)
      expect(JSON.parse((await run('strand open --console --json', none)).stdout)).toEqual({
        url: `${server.url}/console`,
        opened: false,
      })
    }
    const local = await run('strand open --data local --console', {
      BROWSER: 'true',
      STRAND_OPERATOR_LISTEN: '0.0.0.0:8081',
    })
    expect(local.stdout).toBe('http://127.0.0.1:8081/console\n')
  })

  test('starts the browser with the URL and nothing else', async () => {
    shell.write('bin/browser', '#!/bin/sh\necho "$# $1" > opened.part && mv opened.part opened\n')
    chmodSync(join(shell.folder, 'bin/browser'), 0o755)
    expect((await run('strand open', { BROWSER: 'browser' })).code).toBe(0)
    const opened = join(shell.folder, 'opened')
    const deadline = performance.now() + 60_000
    while (!existsSync(opened) && performance.now() < deadline) await Bun.sleep(10)
    expect(readFileSync(opened, 'utf8')).toBe(`1 ${server.url}/\n`)
  })

  test('1 a server that names something else than a page is not opened', async () => {
    const evil = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => Response.json({ servers: [{ url: 'file:///etc/passwd' }] }),
    })
    const refused = await run(`strand open --url http://127.0.0.1:${evil.port} --token-file token`)
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    await evil.stop(true)
  })
})

describe('several profiles', () => {
  test('the last log-in is current; use changes that; the list has no token', async () => {
    await login('--profile second')
    expect(stored().current).toBe('second')
    expect((await run('strand profile use demo')).code).toBe(0)
    const { stdout } = await run('strand profile list')
    expect(stdout.split('\n').map(line => line.trimEnd())).toEqual([
      'CURRENT  NAME    URL',
      `*        demo    ${server.url}`,
      `         second  ${server.url}`,
      '',
    ])
    const listed = await run('strand profile list --json')
    expect(JSON.parse(listed.stdout).profiles).toEqual([
      { name: 'demo', url: server.url, current: true },
      { name: 'second', url: server.url, current: false },
    ])
  })

  test('logout forgets one, and with --all the rest', async () => {
    expect((await run('strand logout second')).stdout).toBe('Forgot the profile second.\n')
    expect(stored().profiles.map((each: { name: string }) => each.name)).toEqual(['demo'])
    expect((await run('strand logout')).code).toBe(0)
    expect(stored()).toEqual({ profiles: [] })
    const again = await run('strand logout')
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('no current profile')])
    await login()
    expect(stored().current).toBe(new URL(server.url).host)
    expect((await run('strand logout --all')).stdout).toBe('Forgot 1 profile.\n')
    expect(readFileSync(file, 'utf8')).not.toContain(token)
  })

  test('1 a file that others can read, or a damaged one, is refused with what to do', async () => {
    await login('--profile demo')
    chmodSync(file, 0o644)
    const open = await run('strand user list')
    expect([open.code, open.stderr]).toEqual([1, expect.stringContaining(`run chmod 600 ${file}`)])
    rmSync(file)
    writeFileSync(file, '{"profiles": [{}]}', { mode: 0o600 })
    const damaged = await run('strand user list')
    expect([damaged.code, damaged.stderr]).toEqual([1, expect.stringContaining('is damaged')])
    rmSync(file)
  })
})
