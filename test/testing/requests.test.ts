/** The requests that a test waits for and counts, a server that several share, and controls that nothing replaces. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attachStrand, type RunningStrand, startStrand } from '../../src/testing/start-strand.ts'
import { ROOT } from '../support/cli/strand-process.ts'

let strand: RunningStrand
beforeAll(async () => {
  strand = await startStrand({ streams: 2, clock: '2026-03-01T12:00:00Z' })
})
afterAll(() => strand.stop())

const ask = (path: string) => fetch(`${strand.url}/helix/${path}`)

test('next returns each request once: those that came before, and those that come', async () => {
  await strand.requests.clear()
  await ask('streams?first=1')
  await ask('streams?first=2')
  const early = [await strand.requests.next('GetStreams'), await strand.requests.next('GetStreams')]
  const late = [strand.requests.next('GetStreams'), strand.requests.next('GetStreams')]
  await ask('streams?first=3')
  await ask('streams?first=4')
  const all = [...early, ...(await Promise.all(late))]
  expect(all.map(({ query }) => query.first)).toEqual([['1'], ['2'], ['3'], ['4']])
  expect(all[0]).toMatchObject({ at: '2026-03-01T12:00:00.000Z', status: 200 })
  expect(await strand.requests.count('GetStreams')).toBe(4)
  expect(await strand.requests.count()).toBe(4)
})

test('next throws after its time with what was called instead', async () => {
  await strand.requests.clear()
  await expect(strand.requests.next('GetGames', { timeout: 20 })).rejects.toThrow(
    'requests.next: no request of GetGames within 20 ms; nothing was called',
  )
  await ask('streams')
  await ask('streams')
  await ask('game')
  await expect(strand.requests.next('GetGames', { timeout: 20 })).rejects.toThrow(
    'what was called: GetStreams 2 times, GET /helix/game (404)',
  )
  const wrong = { timeout: Number.NaN }
  expect(() => strand.requests.next('GetGames', wrong)).toThrow('invalid timeout')
})

test('only the newest 1000 are kept, all are counted, and large bodies are cut', async () => {
  await strand.requests.clear()
  const description = 'x'.repeat(40_000)
  await fetch(`${strand.url}/helix/streams/markers`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${strand.world.broadcaster.token}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ user_id: strand.world.broadcaster.id, description }),
  })
  const { body } = await strand.requests.next('CreateStreamMarker')
  expect(String(body)).toHaveLength(16 * 1024 + 1)
  for (let sent = 0; sent < 1010; sent += 101)
    await Promise.all(Array.from({ length: 101 }, () => ask('streams')))
  expect(await strand.requests.count()).toBe(1011)
  const kept = await strand.requests.list()
  expect(kept).toHaveLength(1000)
  expect(kept.every(({ operation }) => operation === 'GetStreams')).toBe(true)
})

test('attachStrand controls a server that runs, and leaves it running', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'strand-attach-'))
  const worldFile = join(folder, 'world.json')
  writeFileSync(worldFile, JSON.stringify(strand.world))
  const { operator_token: operatorToken } = strand.world
  for (const options of [{ worldFile }, { world: strand.world }, { url: strand.url, operatorToken }]) {
    await using attached = await attachStrand(options)
    expect(attached.world.client).toEqual(strand.world.client)
    await attached.faults.plan({ operation: 'GetStreams', outcome: 'unavailable' })
    expect((await ask('streams')).status).toBe(503)
  }
  expect((await ask('streams')).status).toBe(200)
  writeFileSync(worldFile, '{}')
  const closed = 'http://localhost:1'
  for (const [options, message] of [
    [{}, 'attachStrand: give worldFile, world, or url and operatorToken'],
    [{ url: strand.url }, 'attachStrand: give worldFile'],
    [{ ulr: strand.url }, 'attachStrand: unknown option "ulr"'],
    [{ url: 'localhost', operatorToken }, 'attachStrand: invalid url: must be like http://localhost:8080'],
    [{ url: closed, operatorToken }, 'cannot reach Strand at http://localhost:1'],
    [{ url: strand.url, operatorToken: 'x' }, 'The operator token is invalid'],
    [{ worldFile: join(folder, 'none') }, 'is not the world of a demo: ENOENT'],
    [{ worldFile }, 'control_url or operator_token is missing'],
  ] as const)
    await expect(attachStrand(options as never)).rejects.toThrow(message)
  rmSync(folder, { recursive: true, force: true })
})

test('the controls work where fetch, node:http, browser classes and timers are replaced', async () => {
  const script = `
    import http from 'node:http'
    const broken = () => { throw new Error('replaced') }
    for (const name of ['fetch', 'Response', 'Request', 'Headers', 'AbortSignal', 'AbortController', 'URL'])
      globalThis[name] = broken
    globalThis.setTimeout = () => ({ unref() {}, ref() {}, refresh() {} })
    http.request = http.get = http.Agent = broken
    performance.now = () => 0
    Date.now = () => 0
    const { attachStrand } = await import(${JSON.stringify(join(ROOT, 'src/testing/start-strand.ts'))})
    const strand = await attachStrand({ world: ${JSON.stringify(strand.world)} })
    await strand.clock.advance(0.25)
    await strand.faults.plan({ operation: 'GetStreams', outcome: 'unavailable', times: 3 })
    await strand.requests.next('GetGames', { timeout: 10 }).catch(error => console.log(error.message))
    console.log((await strand.clock.now()).toISOString(), (await strand.faults.pending())[0].times)
    await strand.reset()`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'pipe' })
  const output = await new Response(child.stdout).text()
  expect(await new Response(child.stderr).text()).toBe('')
  expect(output).toContain('no request of GetGames within 10 ms')
  expect(output).toContain('2026-03-01T12:00:00.250Z 3')
})
