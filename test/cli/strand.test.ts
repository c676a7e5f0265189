/** The command as a person meets it: child processes, their words, their exit codes, and the files they leave. */
import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Environment,
  endAllProcesses,
  environmentOf,
  ROOT,
  STRAND,
  StrandProcess,
} from '../support/cli/strand-process.ts'
import { createStorePlace, engines } from '../support/server.ts'
import { freePort } from '../support/store/postgres.ts'
import { ResidentStrand } from './resident-strand.ts'

const OPERATOR_TOKEN = 'an-operator-token-for-these-tests'

// biome-ignore lint/suspicious/noExplicitAny: the printed world, as JSON gave it
type World = any

let folder = ''
let folders = 0

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'strand-cli-'))
})
afterEach(endAllProcesses)
const resident = new ResidentStrand()
afterAll(async () => {
  await resident.stop()
  rmSync(folder, { recursive: true, force: true })
})

const freshPath = (name: string) => join(folder, `${++folders}-${name}`)

const startStrand = (words: readonly string[], environment: Environment = {}, command?: readonly string[]) =>
  new StrandProcess(words, { environment, cwd: folder, ...(command && { command }) })

/** Runs to the end, which must come soon. */
async function run(words: readonly string[], environment: Environment = {}) {
  const strand = startStrand(words, environment)
  const deadline = setTimeout(() => strand.end('SIGKILL'), 10_000)
  const code = await strand.exit()
  clearTimeout(deadline)
  return { code, stdout: strand.stdout, stderr: strand.stderr }
}

/** The same in a process that stays, for words that start nothing. */
const runQuickly = (words: readonly string[], environment: Environment = {}) =>
  resident.shellIn(folder).runWords(words, environment)

const DROPS_SCENARIO = join(ROOT, 'docs', 'scenarios', 'drops.json')

/** A demo as people start it, with its screen and the lines that it prints when it is asked. */
async function startForPeople(words: readonly string[] = []) {
  const port = String(await freePort())
  const strand = startStrand(['demo', '--port', port, '--rtmp-port', '0', '--streams', '20', ...words])
  const screen = await strand.until(({ stdout }) => stdout.endsWith('Ctrl-C.\n\n') && stdout)
  const [, command = ''] = /^ {2}More +strand (.*?) {2}/m.exec(screen) ?? []
  const { code, stdout: lines } = await run(command.split(' '))
  expect(code).toBe(0)
  return { strand, screen, lines, url: `http://localhost:${port}` }
}

/** A demo that has printed its world. */
async function startDemo(words: readonly string[] = [], environment: Environment = {}) {
  const strand = startStrand(
    ['demo', '--port', String(await freePort()), '--no-rtmp', '--json', '--streams', '20', ...words],
    environment,
  )
  const world: World = JSON.parse(
    await strand.until(({ stdout }) => stdout.endsWith('\n') && (stdout.split('\n')[0] as string)),
  )
  return { strand, world }
}

/** A server that reports that it is ready. */
async function startServe(words: readonly string[] = [], environment: Environment = {}) {
  const port = await freePort()
  const url = `http://localhost:${port}`
  const strand = startStrand(
    ['serve', '--listen', `localhost:${port}`, '--data', freshPath('data'), ...words],
    {
      STRAND_OPERATOR_TOKEN: OPERATOR_TOKEN,
      ...environment,
    },
  )
  await strand.serving()
  return { strand, url }
}

function call(url: string, token?: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, headers: { ...(token && { Authorization: `Bearer ${token}` }) } })
}

// biome-ignore lint/suspicious/noExplicitAny: a body is whatever the server sent
async function json(url: string, token?: string, init: RequestInit = {}): Promise<any> {
  const response = await call(url, token, init)
  const text = await response.text()
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

/** One sentence for the operator: a line, no stack, exit code 1. */
function expectOneSentence(
  result: { code: number; stdout: string; stderr: string },
  ...words: string[]
): void {
  expect(result.stderr).toMatch(/^strand: [^\n]+\n$/)
  expect(result.stderr).not.toContain('    at ')
  for (const word of words) expect(result.stderr).toContain(word)
  expect({ code: result.code, stdout: result.stdout }).toEqual({ code: 1, stdout: '' })
}

describe('strand', () => {
  test('--help names the verbs, exit code 0', async () => {
    const { code, stdout, stderr } = await run(['--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    for (const verb of ['demo', 'serve', 'migrate', 'user', 'openapi', 'version'])
      expect(stdout).toContain(verb)
  })

  test('serve --help lists every flag and setting, with examples', async () => {
    const { code, stdout } = await runQuickly(['serve', '--help'])
    expect(code).toBe(0)
    for (const word of ['--config', '--listen', '--operator-listen', '--data', 'STRAND_OPERATOR_LISTEN']) {
      expect(stdout).toContain(word)
    }
    for (const word of ['DATABASE_URL', 'STRAND_RATE_APP', 'STRAND_LOG', 'Examples']) {
      expect(stdout).toContain(word)
    }
  })

  test('demo --help shows the documented flags and their standards', async () => {
    const { code, stdout } = await runQuickly(['demo', '--help'])
    expect(code).toBe(0)
    for (const flag of [
      '--port',
      '--seed',
      '--streams',
      '--json',
      '--world',
      '--lines',
      '--data',
      '--strict',
    ]) {
      expect(stdout).toContain(flag)
    }
    for (const standard of ['8080', '42', '200']) expect(stdout).toContain(standard)
  })

  test.each([
    ['dmo', 'did you mean strand demo?'],
    ['streem list', 'did you mean strand stream?'],
    ['user creat x', 'did you mean strand user create?'],
    ['start', 'did you mean strand stream start?'],
    ['help media chek', 'did you mean strand media check?'],
    // More than can be suggested have this name, or none is near.
    ['list', 'strand --help lists the commands'],
    ['nothing-like-it', 'strand --help lists the commands'],
    ['stream nothing-like-it', 'strand stream --help lists the commands'],
    ['demo --prot 9000', "unknown option '--prot': did you mean --port?"],
  ])('strand %s leads on', async (line, advice) => {
    const { code, stdout, stderr } = await runQuickly(line.split(' '))
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain(advice)
  })

  test('version and --version print the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(await run(['version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
    expect(await runQuickly(['--version'])).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
    expect(JSON.parse((await runQuickly(['version', '--json'])).stdout)).toEqual({ version })
  })

  test('openapi prints a document with the seven operations', async () => {
    const { code, stdout } = await runQuickly(['openapi'])
    expect(code).toBe(0)
    const document = JSON.parse(stdout)
    expect(document.openapi).toStartWith('3.1')
    for (const path of ['/helix/entitlements/drops', '/helix/streams', '/helix/streams/followed']) {
      expect(document.paths).toHaveProperty([path])
    }
    for (const path of ['/helix/streams/key', '/helix/streams/markers']) {
      expect(document.paths).toHaveProperty([path])
    }
  })

  for (const words of [
    ['serve', '--frobnicate'],
    ['demo', '--frobnicate'],
    ['--frobnicate'],
    ['frobnicate'],
    ['demo', '--seed', 'x'],
    ['demo', '--streams', '0'],
    ['demo', '--port'],
    ['demo', '--port', 'abc'],
    ['user', 'password'],
    ['user', 'frobnicate'],
  ]) {
    test(`exit code 2: strand ${words.join(' ')}`, async () => {
      const { code, stdout, stderr } = await (words[0] === 'serve' ? run : runQuickly)(words)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toMatch(/^strand: /)
      expect(stderr).not.toContain('    at ')
    })
  }

  test('exit code 2 and the name of the flag, where its value is wrong', async () => {
    const wrong = ['serve', '--listen', 'bad', '--workers', 'x', '--log', 'loud']
    const { code, stdout, stderr } = await runQuickly(wrong)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    for (const flag of ['--listen', '--workers', '--log'])
      expect(stderr).toContain(`strand: invalid ${flag}: must be `)
    expect((await runQuickly(['user', 'list', '--database-url', 'mysql://x'])).code).toBe(2)
  })
})

describe('strand migrate', () => {
  test('makes the store, and then has nothing to do; a server continues meanwhile', async () => {
    const data = freshPath('data')
    const first = await run(['migrate', '--data', data])
    expect(first).toMatchObject({ code: 0, stderr: '' })
    expect(first.stdout).toMatch(/^The store has schema \d+: \d+ migrations? applied\.\n$/)
    const { url } = await startServe(['--data', data])
    const again = await run(['migrate', '--data', data])
    expect(again.stdout).toMatch(/^The store has schema \d+: no migrations to apply\.\n$/)
    const result = JSON.parse((await runQuickly(['migrate', '--data', data, '--json'])).stdout)
    expect(result).toEqual({ schema_version: expect.any(Number), steps: 0 })
    expect((await call(`${url}/readyz`)).status).toBe(200)
  })

  test('is needed first where STRAND_MIGRATE=off, and reports it', async () => {
    const data = freshPath('data')
    const off = { STRAND_MIGRATE: 'off' }
    expectOneSentence(await run(['serve', '--data', data], off), 'run strand migrate')
    expect((await run(['migrate', '--data', data], off)).code).toBe(0)
    const { url } = await startServe(['--data', data], off)
    expect((await call(`${url}/readyz`)).status).toBe(200)
    const { stderr } = await run(['serve', '--data', data], { STRAND_MIGRATE: 'never' })
    expect(stderr).toContain('invalid STRAND_MIGRATE: must be')
  })

  test('one sentence where the store is newer than the program, or cannot be reached', async () => {
    const data = freshPath('data')
    await run(['migrate', '--data', data])
    const db = new Database(join(data, 'strand.db'))
    db.run("insert into schema_versions (version, applied_at, checksum, additive) values (999, '', '', 0)")
    db.close()
    expectOneSentence(await run(['migrate', '--data', data]), 'schema 999', 'newer version')
    const away = `postgres://strand@127.0.0.1:${await freePort()},127.0.0.1:${await freePort()}/strand`
    expectOneSentence(await run(['migrate', '--database-url', away]), 'cannot be opened')
  })
})

describe('strand user password', () => {
  const password = (file: string, words: readonly string[], input = '') => {
    const shell = ['bash', '-c', 'printf "%s\\n" "$0" | "$@"', input, ...STRAND]
    return startStrand(['user', 'password', '--data', file, ...words], {}, shell)
  }
  const hashIn = (data: string, login: string) => {
    const db = new Database(join(data, 'strand.db'), { readonly: true })
    const row = db.query('select password_hash as hash from users where login = ?').get(login) as {
      hash: string
    }
    db.close()
    return row.hash
  }

  test('sets it while the server runs, and what came in with the old one is out soon', async () => {
    const data = freshPath('data')
    const { world } = await startDemo(['--data', data])
    const { login, token } = world.users[0]
    const made = await run(['user', 'password', login.toUpperCase(), '--generate', '--data', data])
    expect(made.code).toBe(0)
    expect(made.stdout).toMatch(/^[A-Za-z0-9]{20}\n$/)
    expect(await Bun.password.verify(made.stdout.trim(), hashIn(data, login))).toBe(true)
    expect(hashIn(data, login)).toStartWith('$argon2id$')
    // The server reads what others have written four times a second.
    const deadline = performance.now() + 5000
    let status = 200
    while (status === 200 && performance.now() < deadline) {
      await Bun.sleep(20)
      ;({ status } = await call(`${world.oauth_url}/validate`, token))
    }
    expect(status).toBe(401)

    const result = await run(['user', 'password', login, '--generate', '--json', '--data', data])
    expect(JSON.parse(result.stdout)).toEqual({
      user_id: world.users[0].id,
      password: expect.stringMatching(/^[A-Za-z0-9]{20}$/),
    })

    const typed = password(data, [login], 'a typed password')
    expect(await typed.exit()).toBe(0)
    expect(typed.stdout).toBe(`The password of ${login} is set.\n`)
    expect(await Bun.password.verify('a typed password', hashIn(data, login))).toBe(true)
  })

  test('one sentence for a short password, an unknown login and a folder without a store', async () => {
    const data = freshPath('data')
    const { world } = await startDemo(['--data', data])
    const short = password(data, [world.users[0].login], 'short')
    expect(await short.exit()).toBe(1)
    expectOneSentence({ code: 1, stdout: short.stdout, stderr: short.stderr }, '8 to 200 characters')
    expectOneSentence(
      await run(['user', 'password', 'nobody_here', '--generate', '--data', data]),
      'nobody_here',
    )
    const empty = freshPath('empty')
    expectOneSentence(await run(['user', 'password', 'x', '--generate', '--data', empty]), '--data')
    expect(readdirSync(folder)).not.toContain(empty)
  })
})

describe('strand demo', () => {
  /** One that runs meanwhile, because it moves its viewers every few seconds. */
  let moving: { process: Bun.Subprocess; viewers: () => Promise<string>; before: string }
  beforeAll(async () => {
    const words = ['demo', '--port', String(await freePort()), '--no-rtmp', '--json', '--streams', '20']
    const child = Bun.spawn([...STRAND, ...words], { env: environmentOf(), stderr: 'ignore' })
    const { value } = await child.stdout.getReader().read()
    const world: World = JSON.parse(new TextDecoder().decode(value))
    const viewers = async () => {
      const { data } = await json(`${world.helix_url}/streams?first=100`)
      return JSON.stringify(data.map((row: { user_id: string; viewer_count: number }) => row.viewer_count))
    }
    moving = { process: child, viewers, before: await viewers() }
  })
  afterAll(async () => {
    moving.process.kill('SIGTERM')
    await moving.process.exited
  })

  const FIELDS = {
    '': [
      ...['base_url', 'helix_url', 'oauth_url', 'control_url', 'operator_token', 'organization'],
      ...['other_organization', 'client', 'other_client', 'users', 'broadcaster', 'editor', 'offline'],
      ...['viewer', 'game', 'benefit', 'campaign'],
    ],
    organization: ['id', 'name'],
    other_organization: ['id'],
    client: ['id', 'secret', 'app_token'],
    other_client: ['id', 'secret', 'app_token'],
    broadcaster: ['id', 'login', 'token'],
    editor: ['id', 'token'],
    offline: ['id', 'token'],
    viewer: ['id', 'token'],
    game: ['id'],
    benefit: ['id'],
    campaign: ['id', 'drops'],
  }
  const SCOPES = [
    ...['channel:manage:broadcast', 'channel:manage:videos', 'channel:read:editors'],
    ...['channel:read:stream_key', 'moderator:read:followers', 'user:edit', 'user:manage:drops'],
    ...['user:manage:entitlements', 'user:read:broadcast', 'user:read:drops', 'user:read:email'],
    ...['user:read:entitlements', 'user:read:follows'],
  ]

  test('--json prints one line, --world writes the same, with exactly the documented fields', async () => {
    const file = freshPath('world.json')
    const { strand, world } = await startDemo(['--world', file])
    expect(readFileSync(file, 'utf8')).toBe(strand.stdout)
    expect(strand.stdout.trimEnd().split('\n')).toHaveLength(1)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    for (const [path, fields] of Object.entries(FIELDS)) {
      const part = path === '' ? world : world[path]
      expect(Object.keys(part).toSorted()).toEqual(fields.toSorted())
    }
    expect(world.users.length).toBeGreaterThan(0)
    for (const user of world.users) {
      expect(Object.keys(user).toSorted()).toEqual(['id', 'login', 'password', 'scopes', 'token'])
      expect(user.scopes.toSorted()).toEqual(SCOPES)
    }
    expect(world.helix_url).toBe(`${world.base_url}/helix`)
    expect(world.oauth_url).toBe(`${world.base_url}/oauth2`)
    expect(world.control_url).toBe(`${world.base_url}/control`)

    const { data } = await json(`${world.helix_url}/streams?first=100`)
    expect(data).toHaveLength(20)
    for (const { id, login, token, scopes } of world.users) {
      const info = await json(`${world.oauth_url}/validate`, token)
      expect(info).toMatchObject({ client_id: world.client.id, user_id: id, login })
      expect(info.scopes.toSorted()).toEqual(scopes.toSorted())
    }
    expect(await strand.end('SIGTERM')).toBe(0)
  })

  const canPaste = Bun.which('curl') !== null && Bun.which('bash') !== null
  if (!canPaste) process.stderr.write('!!! SKIPPED: the printed curl lines; curl or bash is missing\n')
  test.skipIf(!canPaste).each([
    ['', []],
    [', in strict mode too', ['--strict']],
  ])('what it prints for people can be pasted: the curl lines%s', async (_, flags) => {
    const { strand, screen, lines } = await startForPeople(flags)
    expect(screen.includes('strict mode')).toBe(flags.length > 0)
    const pasted = [...`${screen}\n${lines}`.matchAll(/^.*?(curl .*)$/gm)].map(([, line = '']) => line)
    expect(pasted).toHaveLength(4)
    const answers = []
    for (const line of pasted) {
      const shell = Bun.spawn(['bash', '-c', line], { stdout: 'pipe', stderr: 'ignore' })
      answers.push(JSON.parse(await new Response(shell.stdout).text()))
      expect(await shell.exited).toBe(0)
    }
    expect(answers.map(answer => answer.data?.length)).toEqual([3, 3, 3, 1])
    expect(answers[3].data[0]).toMatchObject({ description: 'hello' })
    expect(await strand.end('SIGINT')).toBe(0)
  })

  test.each([
    ['', []],
    [', in strict mode with a scenario and a folder', ['--strict', '--scenario', DROPS_SCENARIO, '--data']],
  ])('its start fits a screen of 80 by 24, with the address first%s', async (_, flags) => {
    const data = flags.includes('--data') ? [join(folder, 'kept'.repeat(20))] : []
    const { strand, screen, url } = await startForPeople([...flags, ...data])
    const rows = screen.trimEnd().split('\n')
    expect(rows.find(row => row !== '')?.trim()).toBe(url)
    const height = rows.reduce((sum, row) => sum + Math.max(1, Math.ceil(row.length / 80)), 0)
    // npm prints four lines before, and the prompt of a shell takes one.
    expect(height).toBeLessThanOrEqual(19)
    const value = (label: string) => new RegExp(`^ {2}${label} +(.*)$`, 'm').exec(screen)?.[1] ?? ''
    const [, login, password] = /^(\w+), password (\S+) /.exec(value('Log in')) ?? []
    expect([login, password].every(Boolean)).toBe(true)
    expect(value('API')).toStartWith('curl ')
    expect(value('Console')).toBe(`${url}/console`)
    expect(screen).toMatch(/operator token sopr_\w+$/m)
    expect(value('Go live')).toMatch(/^as \w+ on the server rtmp:\/\/localhost:\d+\/live$/)
    expect(screen).toMatch(/stream key live_\w+$/m)
    await strand.end('SIGTERM')
  })

  test('--lines of a demo that does not run, or of another seed, states what to do', async () => {
    const port = String(await freePort())
    expectOneSentence(await run(['demo', '--port', port, '--lines']), 'cannot be reached', 'strand demo')
    const { strand, world } = await startDemo()
    const words = ['demo', '--port', new URL(world.base_url).port, '--lines']
    expectOneSentence(await run([...words, '--seed', '7']), 'returned 401', '--seed')
    expect(JSON.parse((await run([...words, '--json'])).stdout)).toEqual(world)
    await strand.end('SIGTERM')
  })

  test('names the address and a key for encoders, unless the media server is off', async () => {
    const strand = startStrand(['demo', '--port', String(await freePort()), '--rtmp-port', '0', '--json'])
    const { rtmp } = JSON.parse(await strand.until(({ stdout }) => stdout.endsWith('\n') && stdout)) as World
    expect(rtmp?.url).toMatch(/^rtmp:\/\/localhost:[0-9]+\/live$/)
    expect(rtmp?.stream_key).toMatch(/^live_[0-9]+_\w{30}$/)
    await strand.end('SIGTERM')
  })

  test('prints how to go live, and the page to watch it on, which is there', async () => {
    const { strand, lines } = await startForPeople()
    const printed = /^Go live as (\w+) .*?^Watch it in a browser.*?\n\n {2}(http\S+)\n/ms
    const [, login, page = ''] = printed.exec(lines) ?? []
    expect(page).toEndWith(`/${login}`)
    const response = await fetch(page, { headers: { Accept: 'text/html' } })
    expect([response.status, (await response.text()).includes('Offline')]).toEqual([200, true])
    await strand.end('SIGTERM')
  })

  test('the same seed makes the same ids and tokens, another seed others', async () => {
    const result = async (seed: string) => {
      const { strand, world } = await startDemo(['--seed', seed])
      const streams = await json(`${world.helix_url}/streams?first=100`)
      const drops = await json(`${world.helix_url}/entitlements/drops?first=100`, world.client.app_token)
      const key = await json(
        `${world.helix_url}/streams/key?broadcaster_id=${world.broadcaster.id}`,
        world.broadcaster.token,
      )
      await strand.end('SIGTERM')
      const { base_url: _b, helix_url: _h, oauth_url: _o, control_url: _c, ...same } = world
      return {
        ...same,
        streams: streams.data.map((stream: { id: string }) => stream.id).toSorted(),
        drops: drops.data.map((drop: { id: string }) => drop.id).toSorted(),
        key: key.data,
      }
    }
    const [first, again, other] = await Promise.all([result('5'), result('5'), result('6')])
    expect(again).toEqual(first)
    for (const name of [
      'operator_token',
      'client',
      'other_client',
      'users',
      'organization',
      'streams',
      'key',
    ]) {
      expect(other[name]).not.toEqual(first[name])
    }
  })

  test('--data keeps the world and what was done to it; without it nothing is left behind', async () => {
    const data = freshPath('kept')
    const first = await startDemo(['--data', data])
    const { helix_url, client, broadcaster } = first.world
    const listed = await json(
      `${helix_url}/entitlements/drops?fulfillment_status=CLAIMED&first=1`,
      client.app_token,
    )
    const [{ id }] = listed.data
    await json(`${helix_url}/entitlements/drops`, client.app_token, {
      method: 'PATCH',
      body: JSON.stringify({ entitlement_ids: [id], fulfillment_status: 'FULFILLED' }),
    })
    const marker = await json(
      `${helix_url}/streams/markers?user_id=${broadcaster.id}&description=kept`,
      broadcaster.token,
      { method: 'POST' },
    )
    expect(await first.strand.end('SIGTERM')).toBe(0)

    const second = await startDemo(['--data', data])
    const { base_url: _a, helix_url: url, oauth_url: _b, control_url: _c, ...result } = second.world
    expect(first.world).toMatchObject(result)
    const after = await json(`${url}/entitlements/drops?id=${id}`, client.app_token)
    expect(after.data).toMatchObject([{ id, fulfillment_status: 'FULFILLED' }])
    const markers = await json(
      `${url}/streams/markers?user_id=${broadcaster.id}&first=100`,
      broadcaster.token,
    )
    expect(markers.data[0].videos[0].markers.at(-1)).toMatchObject(marker.data[0])
    expect(await second.strand.end('SIGTERM')).toBe(0)

    const temporary = mkdtempSync(join(folder, 'tmp-'))
    const third = await startDemo([], { TMPDIR: temporary })
    expect(readdirSync(temporary)).toHaveLength(1)
    expect(await third.strand.end('SIGTERM')).toBe(0)
    expect(readdirSync(temporary)).toEqual([])
  })

  test('a store that holds something else is left alone', async () => {
    const data = freshPath('foreign')
    const { strand, url } = await startServe(['--data', data])
    await json(`${url}/control/users`, OPERATOR_TOKEN, { method: 'POST', body: '{"login":"someone"}' })
    await strand.end('SIGTERM')
    const port = String(await freePort())
    expectOneSentence(await run(['demo', '--port', port, '--data', data]), 'demo world', '--data')
  })

  test('viewers of its channels move by themselves', async () => {
    let viewers = moving.before
    while (viewers === moving.before) {
      await Bun.sleep(50)
      viewers = await moving.viewers()
    }
    expect(JSON.parse(viewers)).toHaveLength(20)
  }, 15_000)
})

describe('strand cannot start and states why in one sentence', () => {
  test('the port is in use', async () => {
    const { world } = await startDemo()
    const { port } = new URL(world.base_url)
    expectOneSentence(await run(['demo', '--port', port, '--json']), `port ${port} is in use`, '--port')
    const data = freshPath('data')
    expectOneSentence(await run(['serve', '--listen', `localhost:${port}`, '--data', data]), port, 'in use')
  })

  test('the data folder cannot be written', async () => {
    const file = freshPath('file')
    writeFileSync(file, '')
    const listen = `localhost:${await freePort()}`
    const data = join(file, 'data')
    expectOneSentence(await run(['serve', '--listen', listen, '--data', data]), data, 'cannot be written')
    expectOneSentence(await run(['serve', '--listen', listen, '--data', file]), file, 'cannot be written')
  })

  test('the store has a newer schema', async () => {
    const data = freshPath('newer')
    const { strand } = await startServe(['--data', data])
    await strand.end('SIGTERM')
    const store = new Database(join(data, 'strand.db'))
    store.run(
      "insert into schema_versions (version, applied_at, checksum, additive) values (999, '2030-01-01T00:00:00.000Z', '', 0)",
    )
    store.close()
    const result = await run(['serve', '--listen', `localhost:${await freePort()}`, '--data', data])
    expectOneSentence(result, '999', 'newer')
  })

  test('the store is not a store', async () => {
    const data = freshPath('broken')
    mkdirSync(data)
    writeFileSync(join(data, 'strand.db'), 'this is not a database, '.repeat(1000))
    const result = await run(['serve', '--listen', `localhost:${await freePort()}`, '--data', data])
    expectOneSentence(result, 'store')
  })

  test('the master keys are damaged', async () => {
    const data = freshPath('damaged')
    mkdirSync(data)
    writeFileSync(join(data, 'master-keys'), 'nonsense')
    const result = await run(['serve', '--listen', `localhost:${await freePort()}`, '--data', data])
    expectOneSentence(result, 'master-keys')
  })

  test('nothing answers at DATABASE_URL', async () => {
    const result = await run(
      ['serve', '--listen', `localhost:${await freePort()}`, '--data', freshPath('data')],
      { DATABASE_URL: `postgres://strand:hush-hush@127.0.0.1:${await freePort()}/strand` },
    )
    expectOneSentence(result, 'store')
    expect(result.stderr).not.toContain('hush-hush')
  })

  test('a public listener without one for the operator', async () => {
    const port = await freePort()
    const result = await run(['serve', '--listen', `0.0.0.0:${port}`, '--data', freshPath('data')])
    expect(result.code).toBe(2)
    expectOneSentence({ ...result, code: 1 }, 'invalid --listen: 0.0.0.0', 'STRAND_OPERATOR_LISTEN')
  })

  test('the settings file cannot be read', async () => {
    expectOneSentence(await runQuickly(['serve', '--config', freshPath('missing')]), 'cannot read --config')
  })

  test('several wrong settings are all reported at once', async () => {
    const wrong = {
      STRAND_LISTEN: 'nonsense',
      STRAND_RATE_APP: '-1',
      STRAND_LOG: 'loud',
      STRAND_OPERATOR_TOKEN: 'short',
      STRAND_MASTER_KEYS: 'a:b',
      STRAND_TRUSTED_PROXIES: 'everyone',
      STRAND_PUBLIC_URL: 'ftp://x',
      DATABASE_URL: 'mysql://x',
      STRAND_LISTN: 'localhost:1',
    }
    const { code, stdout, stderr } = await runQuickly(['serve'], wrong)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    const lines = stderr.trimEnd().split('\n')
    expect(lines).toHaveLength(Object.keys(wrong).length)
    for (const name of Object.keys(wrong)) {
      expect(
        lines.filter(
          line =>
            line.startsWith(`strand: invalid ${name}: `) ||
            line.startsWith(`strand: unknown setting ${name}`),
        ),
      ).toHaveLength(1)
    }
    expect(stderr).not.toContain('short"')
  })
})

describe('strand serve', () => {
  test('flags win over the environment, the environment over the file', async () => {
    const file = freshPath('settings')
    writeFileSync(file, 'STRAND_LOG=trace\nSTRAND_RATE_ANONYMOUS=123\nSTRAND_RATE_APP=456\n')
    const { url } = await startServe(['--config', file, '--log', 'info'], { STRAND_RATE_ANONYMOUS: '321' })
    const response = await call(`${url}/helix/streams`)
    expect(response.headers.get('ratelimit-limit')).toBe('321')
  })

  test('without the demo there are neither clock nor faults nor user_token', async () => {
    const { url } = await startServe()
    for (const path of ['clock', 'faults']) {
      const response = await call(`${url}/control/${path}`, OPERATOR_TOKEN, { method: 'POST', body: '{}' })
      expect(response.status).toBe(404)
    }
    const minted = await call(`${url}/oauth2/authorize?grant_type=user_token`, undefined, { method: 'POST' })
    expect(minted.status).toBe(404)
  })

  test('/healthz and /readyz', async () => {
    const { url } = await startServe()
    for (const path of ['healthz', 'readyz']) {
      const response = await call(`${url}/${path}`)
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(response.headers.get('cache-control')).toBe('no-store')
    }
  })

  test.skipIf(!engines.includes('postgres'))('/readyz is 503 when PostgreSQL goes away', async () => {
    const place = await createStorePlace('postgres')
    try {
      const { strand, url } = await startServe([], { DATABASE_URL: place.databaseUrl as string })
      expect((await call(`${url}/readyz`)).status).toBe(200)
      await place.remove()
      let status = 200
      while (status === 200) ({ status } = await call(`${url}/readyz`))
      expect(status).toBe(503)
      expect((await call(`${url}/healthz`)).status).toBe(200)
      expect(await strand.end('SIGTERM')).toBe(0)
    } finally {
      await place.remove().catch(() => undefined)
    }
  })

  test('with STRAND_OPERATOR_LISTEN, control is on that port only', async () => {
    const operator = `localhost:${await freePort()}`
    const { strand, url } = await startServe([], { STRAND_OPERATOR_LISTEN: operator })
    const inside = await call(`http://${operator}/control/users`, OPERATOR_TOKEN)
    expect(inside.status).toBe(200)
    const outside = await call(`${url}/control/users`, OPERATOR_TOKEN)
    expect(outside.status).toBe(404)
    expect(await outside.json()).toMatchObject({ error: 'Not Found', status: 404 })
    expect((await call(`http://${operator}/helix/streams`)).status).toBe(404)
    expect((await call(`http://${operator}/oauth2/validate`)).status).toBe(404)
    expect((await call(`${url}/helix/streams`)).status).toBe(200)
    for (const base of [url, `http://${operator}`]) {
      expect((await call(`${base}/healthz`)).status).toBe(200)
    }
    expect(await strand.end('SIGTERM')).toBe(0)
  })

  test('a listener that others can reach serves once the operator has one of their own', async () => {
    const port = await freePort()
    const strand = startStrand([
      ...['serve', '--listen', `0.0.0.0:${port}`, '--operator-listen', `localhost:${await freePort()}`],
      ...['--data', freshPath('data')],
    ])
    await strand.until(({ stderr }) => stderr.includes('"msg":"serving"'))
    expect((await call(`http://127.0.0.1:${port}/helix/streams`)).status).toBe(200)
    expect(await strand.end('SIGTERM')).toBe(0)
  })

  test('--strict is shown when it serves, and STRAND_STRICT by strand config', async () => {
    const port = await freePort()
    const strand = startStrand([
      ...['serve', '--strict', '--listen', `localhost:${port}`, '--data', freshPath('data')],
    ])
    await strand.until(({ stderr }) => stderr.includes('"msg":"serving"'))
    expect(strand.stderr).toMatch(/"strict":true.*"msg":"serving"/)
    expect((await call(`http://localhost:${port}/helix/streams`)).status).toBe(401)
    expect(await strand.end('SIGTERM')).toBe(0)
    const { stdout } = await runQuickly(['config', '--json'], { STRAND_STRICT: '1' })
    expect(JSON.parse(stdout).settings).toContainEqual({
      name: 'STRAND_STRICT',
      value: '1',
      from: 'environment',
    })
    expectOneSentence(
      await runQuickly(['config'], { STRAND_STRICT: 'yes' }),
      'invalid STRAND_STRICT',
      '0 or 1',
    )
  })

  test('the files of the data folder are only for the owner', async () => {
    const data = freshPath('private')
    const strand = startStrand(['serve', '--listen', `localhost:${await freePort()}`, '--data', data])
    await strand.until(({ stderr }) => stderr.includes('"msg":"serving"'))
    const modes = () =>
      Object.fromEntries(readdirSync(data).map(name => [name, statSync(join(data, name)).mode & 0o777]))
    const whileServing = modes()
    expect(Object.keys(whileServing)).toContain('strand.db')
    expect(Object.keys(whileServing)).toContain('operator-token')
    expect(Object.keys(whileServing)).toContain('master-keys')
    expect(Object.entries(whileServing).filter(([, mode]) => mode !== 0o600)).toEqual([])
    expect(statSync(data).mode & 0o777).toBe(0o700)
    expect(await strand.end('SIGTERM')).toBe(0)
    expect(Object.entries(modes()).filter(([, mode]) => mode !== 0o600)).toEqual([])
  })

  test('the first start writes an operator token that works, and keeps it', async () => {
    const data = freshPath('operator')
    let first: string | undefined
    for (let start = 0; start < 2; start++) {
      const port = await freePort()
      const strand = startStrand(['serve', '--listen', `localhost:${port}`, '--data', data])
      await strand.until(({ stderr }) => stderr.includes('"msg":"serving"'))
      const token = readFileSync(join(data, 'operator-token'), 'utf8').trim()
      expect((await call(`http://localhost:${port}/control/users`, token)).status).toBe(200)
      expect(strand.stderr).not.toContain(token)
      first ??= token
      expect(token).toBe(first)
      expect(await strand.end('SIGTERM')).toBe(0)
    }
  })
})

test('SIGTERM: a request under way is finished, no new request is taken, exit code 0', async () => {
  const { strand, world } = await startDemo()
  const { port } = new URL(world.base_url)
  await json(`${world.control_url}/faults`, world.operator_token, {
    method: 'POST',
    body: JSON.stringify({ operation: 'CreateStreamMarker', outcome: 'slow', milliseconds: 1000, times: 1 }),
  })
  const body = JSON.stringify({ user_id: world.broadcaster.id, description: 'the last one' })
  const socket = connect(Number(port), '127.0.0.1')
  let received = ''
  const closed = new Promise<void>(resolve => socket.on('close', () => resolve()))
  socket.on('data', (chunk: Uint8Array) => {
    received += new TextDecoder().decode(chunk)
  })
  socket.on('error', () => undefined)
  socket.write(
    [
      'POST /helix/streams/markers HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${world.broadcaster.token}`,
      `Content-Length: ${body.length}`,
      'Expect: 100-continue',
      '',
      '',
    ].join('\r\n'),
  )
  // The interim answer shows that the request is in the server's hands.
  await strand.until(() => received.startsWith('HTTP/1.1 100'))
  socket.write(body)
  const ended = strand.end('SIGTERM')
  await strand.until(({ stderr }) => stderr.includes('stopping'))
  const refused = await fetch(`${world.base_url}/healthz`, { keepalive: false }).then(
    () => 'served',
    () => 'refused',
  )
  expect(refused).toBe('refused')
  expect(await ended).toBe(0)
  await closed
  expect(received).toContain('HTTP/1.1 200 OK')
  expect(received).toContain('the last one')
}, 20_000)

test('logs are lines of JSON without a token, secret or key in them; the store holds none either', async () => {
  const data = freshPath('canaries')
  const { strand, world } = await startDemo(['--data', data], { STRAND_LOG: 'trace' })
  const { helix_url, oauth_url, control_url, client, broadcaster, operator_token } = world
  const control = async (method: string, path: string, body: unknown = {}) =>
    (await json(`${control_url}${path}`, operator_token, { method, body: JSON.stringify(body) }))?.data[0]
  const key = await json(`${helix_url}/streams/key?broadcaster_id=${broadcaster.id}`, broadcaster.token)
  const granted = await json(
    `${oauth_url}/token?grant_type=client_credentials&client_id=${client.id}&client_secret=${client.secret}`,
    undefined,
    { method: 'POST' },
  )
  const issued = await control('POST', '/tokens', { client_id: client.id, user_id: broadcaster.id })
  const refreshed = await json(
    `${oauth_url}/token?grant_type=refresh_token&client_id=${client.id}&client_secret=${client.secret}&refresh_token=${issued.refresh_token}`,
    undefined,
    { method: 'POST' },
  )
  const rotated = await control('POST', `/channels/${broadcaster.id}/stream-key/rotate`)
  const made = await control('POST', '/clients', { name: 'another' })
  const renewed = await control('POST', `/clients/${made.id}/rotate-secret`)
  const password = 'correct horse battery staple'
  await control('POST', '/users', { login: 'with_password', password })
  const secrets: string[] = [
    ...[operator_token, client.secret, client.app_token, broadcaster.token, key.data[0].stream_key],
    ...[granted.access_token, issued.access_token, issued.refresh_token, refreshed.access_token],
    ...[refreshed.refresh_token, rotated.stream_key, made.secret, renewed.secret, password],
  ]
  expect(secrets.every(secret => typeof secret === 'string' && secret.length > 10)).toBe(true)
  // Failures are where secrets get out: the wrong place, the wrong operation, the wrong form.
  for (const secret of secrets) {
    const value = encodeURIComponent(secret)
    await call(`${helix_url}/streams/key?access_token=${value}`)
    await call(`${helix_url}/${value}`, secret)
    await call(`${oauth_url}/validate`, secret)
    await call(`${oauth_url}/revoke?client_id=${client.id}&token=${value}x`, undefined, { method: 'POST' })
    await call(`${helix_url}/entitlements/drops`, secret, { method: 'PATCH', body: `{"${secret}":` })
    await call(`${control_url}/tokens`, operator_token, {
      method: 'DELETE',
      body: JSON.stringify({ token: `${secret}x` }),
    })
  }
  await json(`${helix_url}/streams?first=1`, world.viewer.token)

  const inFiles = readdirSync(data)
    .filter(name => name.startsWith('strand.db'))
    .map(name => readFileSync(join(data, name), 'latin1'))
    .join('')
  expect(await strand.end('SIGTERM')).toBe(0)
  const lines = strand.stderr.trimEnd().split('\n')
  expect(lines.length).toBeGreaterThan(50)
  for (const line of lines) {
    const entry = JSON.parse(line)
    expect(entry.level).toBeString()
    expect(entry.time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  }
  expect(lines.filter(line => JSON.parse(line).level === 'error')).toEqual([])
  for (const secret of secrets) {
    for (const form of [
      secret,
      encodeURIComponent(secret),
      btoa(secret),
      Buffer.from(secret).toString('hex'),
    ]) {
      expect(strand.stderr.includes(form) ? `a log line with ${secret}` : '').toBe('')
      expect(inFiles.includes(form) ? `${secret} in the store` : '').toBe('')
    }
  }
})

const node = Bun.which('node')
if (node === null) process.stderr.write('!!! SKIPPED: bin/strand.js; node is missing\n')
test.skipIf(node === null)('bin/strand.js under node: the same command, signals and exit codes', async () => {
  const command = [node ?? '', join(ROOT, 'bin', 'strand.js')]
  const version = startStrand(['version'], {}, command)
  expect(await version.exit()).toBe(0)
  expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  const wrong = startStrand(['demo', '--frobnicate'], {}, command)
  expect(await wrong.exit()).toBe(2)

  const demo = startStrand(
    ['demo', '--port', String(await freePort()), '--json', '--streams', '5'],
    {},
    command,
  )
  const world: World = JSON.parse(await demo.until(({ stdout }) => stdout.endsWith('\n') && stdout))
  expect((await call(`${world.base_url}/readyz`)).status).toBe(200)
  expect(await demo.end('SIGTERM')).toBe(0)
  await expect(fetch(`${world.base_url}/healthz`, { keepalive: false })).rejects.toThrow()
})
