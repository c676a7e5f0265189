/** The built executable, alone in an empty folder: no repository, no packages, no other program around it. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative } from 'node:path'
import { Glob } from 'bun'
import { THREADS } from '../../build/program-bundle.ts'
import { VERSION } from '../../src/config/version.ts'
import { CLIP_NAMES } from '../../src/demo/clips.ts'
import { findAsset, islandScripts, stylePath } from '../../src/site/build/assets.ts'
import { endAllProcesses, ROOT, StrandProcess } from '../support/cli/strand-process.ts'
import { freePort } from '../support/store/postgres.ts'

let folder = ''
let executable = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'strand-executable-'))
  executable = join(folder, 'strand')
  // The one that the test run has built the same way, if there is one.
  const { TEST_STRAND } = process.env
  if (TEST_STRAND) return linkSync(TEST_STRAND, executable)
  const build = Bun.spawn([process.execPath, 'build/executable.ts', '--out', executable], {
    cwd: ROOT,
    stdout: 'ignore',
    stderr: 'inherit',
  })
  expect(await build.exited).toBe(0)
})
afterEach(endAllProcesses)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const start = (words: readonly string[], environment: Record<string, string> = {}) =>
  new StrandProcess(words, {
    command: [executable],
    cwd: folder,
    environment: { PATH: '/nonexistent', ...environment },
  })

async function run(words: readonly string[]) {
  const strand = start(words)
  const code = await strand.exit()
  return { code, stdout: strand.stdout, stderr: strand.stderr }
}

test('every thread that the sources start is an entry of the executable, beside the file that starts it', () => {
  const started = [...new Glob('src/**/*.{ts,tsx}').scanSync(ROOT)].flatMap(file =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(/new Worker\(new URL\('([^']+)'/g)].map(
      ([, address = '']) => [file, address] as const,
    ),
  )
  expect(started.length).toBeGreaterThan(0)
  for (const [file, address] of started) {
    expect([file, address]).toEqual([file, `./${basename(address)}`])
    expect(THREADS).toContain(relative('src', join(dirname(file), address)))
  }
})

describe('the built executable', () => {
  test('is one file', () => {
    expect(readdirSync(folder)).toEqual(['strand'])
  })

  test('contains no path of the machine that built it', () => {
    const content = readFileSync(executable)
    for (const name of ['src', 'build', 'node_modules'])
      expect([name, content.includes(join(ROOT, name))]).toEqual([name, false])
  })

  test('knows its version', async () => {
    expect(await run(['version'])).toEqual({ code: 0, stdout: `${VERSION}\n`, stderr: '' })
  })

  test('serves the demo and passes the acceptance tests', async () => {
    const world = join(folder, 'world.json')
    const demo = start(['demo', '--port', '0', '--json', '--streams', '60', '--world', world])
    await demo.until(({ stdout }) => stdout.endsWith('\n'))
    const judge = Bun.spawn([process.execPath, 'test', 'test/acceptance/world.test.ts'], {
      cwd: ROOT,
      env: { ...process.env, STRAND_WORLD: world },
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const report = await new Response(judge.stderr).text()
    expect([await judge.exited, report.match(/^ *[0-9]+ fail$/m)?.[0].trim()]).toEqual([0, '0 fail'])
    expect(Number(report.match(/^ *([0-9]+) pass$/m)?.[1])).toBeGreaterThan(20)
    expect(await demo.end('SIGTERM')).toBe(0)
  })

  test('shows the pages that people log in on, and has their style sheet, and the scripts of islands', async () => {
    const demo = start(['demo', '--port', '0', '--json', '--streams', '1'])
    const { base_url } = JSON.parse(await demo.until(({ stdout }) => stdout.endsWith('\n') && stdout)) as {
      base_url: string
    }
    const page = await fetch(`${base_url}/login`)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const { path, imports } = await islandScripts('player')
    for (const asset of [path, ...imports, await stylePath('site')]) {
      const served = await fetch(base_url + asset)
      const same = (await served.text()) === (await findAsset(asset))?.text
      expect([asset, served.status, same]).toEqual([asset, 200, true])
    }
    expect(await demo.end('SIGTERM')).toBe(0)
  })

  test('plays a clip on every channel of the demo, with each of the clips in it', async () => {
    const demo = start(['demo', '--port', '0', '--json', '--streams', '40'])
    const { base_url } = JSON.parse(await demo.until(({ stdout }) => stdout.endsWith('\n') && stdout)) as {
      base_url: string
    }
    const { data } = (await (await fetch(`${base_url}/helix/streams?first=40`)).json()) as {
      data: { user_login: string }[]
    }
    const segments = new Set<string>()
    for (const { user_login } of data) {
      const playlist = `${base_url}/live/${user_login}.m3u8`
      const media = new URL((await (await fetch(playlist)).text()).trim().split('\n').at(-1) ?? '', playlist)
      const segment = await fetch(new URL('0.m4s', media))
      expect([user_login, segment.status]).toEqual([user_login, 200])
      segments.add(Bun.hash(await segment.bytes()).toString())
    }
    expect(segments.size).toBe(CLIP_NAMES.length)
    expect(await demo.end('SIGTERM')).toBe(0)
  })

  test('migrates, serves, is healthy, is backed up, and stops', async () => {
    const data = join(folder, 'data')
    const listen = `localhost:${await freePort()}`
    expect((await run(['migrate', '--data', data])).code).toBe(0)
    const serve = start(['serve', '--listen', listen, '--data', data])
    expect((await run(['healthcheck', '--wait', '20', '--url', `http://${listen}`])).code).toBe(0)
    await serve.serving()
    const token = readFileSync(join(data, 'operator-token'), 'utf8').trim()
    const answer = await fetch(`http://${listen}/control/users`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ login: 'alone', password: 'with a password' }),
    })
    expect(answer.status).toBe(200)
    // A copy is made by a separate thread, from another folder of the sources than the writer's.
    const copy = join(folder, 'backup.tar')
    expect((await run(['backup', '--data', data, '--unsealed', copy])).code).toBe(0)
    expect((await run(['verify', copy])).code).toBe(0)
    expect(await serve.end('SIGTERM')).toBe(0)
    expect((await run(['healthcheck', '--url', `http://${listen}`])).code).toBe(1)
  })

  test('takes neither settings nor code from the folder that one is in', async () => {
    const place = join(folder, 'elsewhere')
    mkdirSync(place)
    writeFileSync(join(place, '.env'), 'STRAND_LISTEN=nowhere\n')
    writeFileSync(join(place, 'bunfig.toml'), 'preload = ["./planted.ts"]\n')
    writeFileSync(join(place, 'planted.ts'), 'process.exit(99)\n')
    const strand = new StrandProcess(['migrate', '--data', join(place, 'data')], {
      command: [executable],
      cwd: place,
    })
    expect([await strand.exit(), strand.stderr]).toEqual([0, ''])
  })
})
