/** `startStrand` as the tests of others use it, in this process and as a child. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RunningStrand, type StrandOptions, startStrand } from '../../src/testing/start-strand.ts'
import { ROOT } from '../support/cli/strand-process.ts'
import { usingBuiltChildren } from './built-children.ts'

usingBuiltChildren()

const running: RunningStrand[] = []
afterEach(async () => {
  for (const strand of running.splice(0)) await strand.stop()
})

async function start(options: StrandOptions): Promise<RunningStrand> {
  const strand = await startStrand({ streams: 3, ...options })
  running.push(strand)
  return strand
}

async function isListening(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`).then(
    () => true,
    () => false,
  )
}

/** Waits until it is so; the test's own deadline ends the waiting. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await Bun.sleep(10)
}

const status = async (url: string) => (await fetch(url)).status

const MISTYPED =
  'startStrand: unknown option "prot"; must be one of port, seed, streams, clock, scenario, mode, strict, intercept, data, log, settings, startTimeout'

for (const mode of ['process', 'child'] as const) {
  describe(`startStrand, ${mode}`, () => {
    /** For tests that leave it as it was. */
    let usual: RunningStrand
    beforeAll(async () => {
      usual = await startStrand({ mode, streams: 3 })
    })
    afterAll(() => usual.stop())

    test('serves when it resolves, and not after stop', async () => {
      const strand = await start({ mode })
      expect(await status(`${strand.url}/readyz`)).toBe(200)
      expect(strand.url).toBe(strand.world.base_url)
      expect(strand.client).toEqual(strand.world.client)
      await Promise.all([strand.stop(), strand.stop()])
      expect(await isListening(strand.url)).toBe(false)
    })

    test('is disposed of at the end of a block', async () => {
      let url = ''
      {
        await using strand = await startStrand({ mode, streams: 1 })
        url = strand.url
        expect(await isListening(url)).toBe(true)
      }
      expect(await isListening(url)).toBe(false)
    })

    test('several run at once, with the same world for the same seed and another for another', async () => {
      const [one, same, other] = await Promise.all([
        start({ mode, seed: 7 }),
        start({ mode, seed: 7 }),
        start({ mode, seed: 8 }),
      ])
      const { base_url, helix_url, oauth_url, control_url, ...world } = one.world
      expect(same.world).toMatchObject(world)
      expect(new Set([one.url, same.url, other.url]).size).toBe(3)
      expect(other.world.client.id).not.toBe(one.world.client.id)
    })

    test('in strict mode it refuses a call without a token', async () => {
      const strict = await start({ mode, strict: true })
      expect(await status(`${strict.url}/helix/streams`)).toBe(401)
      expect(await status(`${usual.url}/helix/streams`)).toBe(200)
    })

    test('a clock that is given stands, moves on request, and runs when it is let go', async () => {
      const strand = await start({ mode, clock: '2026-03-01T12:00:00Z' })
      const noon = Date.parse('2026-03-01T12:00:00Z')
      expect((await strand.clock.now()).getTime()).toBe(noon)
      expect((await strand.clock.advance(90)).getTime()).toBe(noon + 90_000)
      expect((await strand.clock.now()).getTime()).toBe(noon + 90_000)
      await strand.clock.run()
      await until(async () => (await strand.clock.now()).getTime() > noon + 90_000)
      const frozen = await strand.clock.freeze()
      expect(await strand.clock.now()).toEqual(frozen)
      await strand.reset()
      expect((await strand.clock.now()).getTime()).toBe(noon)
    })

    test('a clock that runs continues from where it is given', async () => {
      const from = new Date('2030-01-01T00:00:00Z')
      const strand = await start({ mode, clock: { start: from, running: true } })
      await until(async () => (await strand.clock.now()) > from)
      expect((await strand.clock.now()).getTime() - from.getTime()).toBeLessThan(60_000)
    })

    test('faults are planned and cleared; one that makes no sense is refused in words', async () => {
      const strand = usual
      await strand.faults.plan({ operation: 'GetStreams', outcome: 'unavailable', times: 5 })
      expect(await status(`${strand.url}/helix/streams`)).toBe(503)
      await strand.faults.clear()
      expect(await status(`${strand.url}/helix/streams`)).toBe(200)
      // @ts-expect-error: there is no such operation
      const unknown = strand.faults.plan({ operation: 'GetNothing', outcome: 'slow' })
      await expect(unknown).rejects.toThrow('"GetNothing"')
    })

    test('reset brings back what a test has changed', async () => {
      const strand = usual
      const { broadcaster } = strand.world
      const live = async () =>
        ((await (await fetch(`${strand.url}/helix/streams`)).json()) as { data: { id: string }[] }).data
      const before = await live()
      await fetch(`${strand.world.control_url}/channels/${broadcaster.id}/stream`, {
        method: 'DELETE',
        headers: { Authorization: `Bearer ${strand.world.operator_token}` },
      })
      expect(await live()).toHaveLength(2)
      await strand.reset()
      expect((await live()).map(stream => stream.id)).toEqual(before.map(stream => stream.id))
    })

    test('the entries of a scenario have the types of their sections', async () => {
      const strand = await startStrand({
        mode,
        streams: 1,
        scenario: {
          users: { star: { stream: {} } },
          tokens: { bare: { scopes: [] } },
          grants: { launch: { count: 3 } },
          faults: [{ operation: 'GetStreams', outcome: 'slow', times: 2 }],
        },
      })
      running.push(strand)
      const { star, bare, launch } = strand.world.scenario
      const texts: string[] = [star.id, star.login, bare.token, launch.benefit_id]
      expect(texts.every(text => text !== '')).toBe(true)
      const scopes: readonly string[] = bare.scopes
      expect([scopes.length, launch.count]).toEqual([0, 3])
      // @ts-expect-error: the scenario has no such entry
      expect(strand.world.scenario.moon).toBeUndefined()
    })

    test('a scenario is an object or a file', async () => {
      const strand = await start({ mode, scenario: { users: { star: { id: '77', stream: {} } } } })
      expect(strand.world.scenario?.star).toMatchObject({ id: '77', login: 'star' })
      const file = join(ROOT, 'docs/scenarios/channels.json')
      expect((await start({ mode, scenario: file })).world.scenario?.star?.id).toBe('4200001')
    })

    test('what is wrong is reported, and nothing is left running', async () => {
      // biome-ignore lint/suspicious/noExplicitAny: on purpose not of the type
      const wrong = { tokens: { old: { state: 'stale' } } } as any
      const sentence = '$.tokens.old.state must be one of good, expired, revoked'
      await expect(startStrand({ mode, scenario: wrong })).rejects.toThrow(sentence)
      await expect(startStrand({ mode, scenario: '/nowhere.json' })).rejects.toThrow(
        '/nowhere.json cannot be read',
      )
      await expect(startStrand({ mode, settings: { STRAND_RATE_APP: 'many' } })).rejects.toThrow(
        'STRAND_RATE_APP',
      )
      await expect(startStrand({ mode, clock: 'noon' })).rejects.toThrow('invalid clock: must be a time')
      const mistyped = { mode, prot: 0 }
      await expect(startStrand(mistyped)).rejects.toThrow(new TypeError(MISTYPED))
    })

    test('settings are those that are given: limits are off, and can be on', async () => {
      const limit = async (strand: RunningStrand) => {
        const answers = await Promise.all([1, 2, 3].map(() => fetch(`${strand.url}/helix/streams`)))
        return answers.map(answer => answer.status).toSorted()
      }
      expect(await limit(usual)).toEqual([200, 200, 200])
      const limited = await start({ mode, settings: { STRAND_RATE_ANONYMOUS: '2' } })
      expect(await limit(limited)).toEqual([200, 200, 429])
    })

    test('settings in the environment of the test do no harm', async () => {
      process.env.STRAND_NONSENSE = 'would be refused'
      process.env.DATABASE_URL = 'postgres://unknown@localhost:1/none'
      try {
        expect(await status(`${(await start({ mode })).url}/readyz`)).toBe(200)
      } finally {
        delete process.env.STRAND_NONSENSE
        delete process.env.DATABASE_URL
      }
    })

    test('data keeps the world; without it, nothing is left', async () => {
      const data = mkdtempSync(join(tmpdir(), 'strand-harness-'))
      const first = await start({ mode, data, seed: 9 })
      await first.stop()
      expect(readdirSync(data)).toContain('strand.db')
      expect((await start({ mode, data, seed: 10 })).world.client.id).toBe(first.world.client.id)
      rmSync(data, { recursive: true, force: true })
    })
  })
}

test('a child, here of the sources, ends with the process that started it, also when that is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'strand-orphan-'))
  const parent = join(folder, 'parent.ts')
  const harness = JSON.stringify(join(ROOT, 'src/testing/start-strand.ts'))
  writeFileSync(
    parent,
    `import { startStrand } from ${harness}
const strand = await startStrand({ mode: 'child', streams: 1 })
process.stdout.write(strand.url + '\\n')
setInterval(() => undefined, 1000)
`,
  )
  const process_ = Bun.spawn([process.execPath, parent], { stdout: 'pipe', stderr: 'inherit' })
  const { value } = await process_.stdout.getReader().read()
  const url = new TextDecoder().decode(value).trim()
  expect(await isListening(url)).toBe(true)
  process_.kill('SIGKILL')
  await process_.exited
  await until(async () => !(await isListening(url)))
  rmSync(folder, { recursive: true, force: true })
})
