/** A process that lacks a master key of sealed stream keys reports it, and changes nothing. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'
import { createStorePlace, engines, type StorePlace } from '../support/server.ts'

const KEYS = { STRAND_MASTER_KEYS: `k1:${Buffer.alloc(32, 7).toString('base64')}` }
const SENTENCE =
  'strand: stream keys are sealed with the master key k1, which is missing: set STRAND_MASTER_KEYS or use --config (if the key is lost for good, set STRAND_LOST_MASTER_KEYS)\n'

afterEach(endAllProcesses)

for (const engine of engines) {
  describe(`master keys on ${engine}`, () => {
    let place: StorePlace
    beforeAll(async () => {
      place = await createStorePlace(engine)
      await run(['migrate'], KEYS)
      expect(await run(['user', 'create', 'aaa'], KEYS)).toMatchObject({ code: 0 })
    })
    afterAll(() => place.remove())

    const run = async (words: readonly string[], environment: Environment = {}) => {
      const child = new StrandProcess(words, {
        environment: {
          STRAND_DATA: place.folder,
          ...(place.databaseUrl !== undefined && { DATABASE_URL: place.databaseUrl }),
          ...environment,
        },
      })
      return { code: await child.exit(), stdout: child.stdout, stderr: child.stderr }
    }

    test('a verb, an import and a server without them refuse, and make no key of their own', async () => {
      const lines = join(place.folder, 'lines.ndjson')
      writeFileSync(lines, `${JSON.stringify({ type: 'user', id: '12', login: 'lunar_otter' })}\n`)
      for (const words of [
        ['user', 'create', 'bbb'],
        ['import', lines],
        ['serve', '--listen', '127.0.0.1:0', '--log', 'silent'],
      ]) {
        expect(await run(words)).toEqual({ code: 1, stdout: '', stderr: SENTENCE })
        expect(existsSync(join(place.folder, 'master-keys'))).toBeFalse()
      }
      const { data } = JSON.parse((await run(['user', 'list', '--json'], KEYS)).stdout)
      expect(data.map((user: { login: string }) => user.login)).toEqual(['aaa'])
    })

    test('other keys will not do, and more keys do no harm', async () => {
      const others = `k2:${Buffer.alloc(32, 8).toString('base64')}`
      expect(await run(['user', 'list'], { STRAND_MASTER_KEYS: others })).toMatchObject({
        code: 1,
        stderr: SENTENCE,
      })
      const both = `${others},${KEYS.STRAND_MASTER_KEYS}`
      expect(await run(['user', 'list'], { STRAND_MASTER_KEYS: both })).toMatchObject({ code: 0 })
    })

    test.skipIf(engine === 'sqlite')(
      'a node with a separate folder refuses to seal with other keys',
      async () => {
        const own = await createStorePlace('sqlite', { empty: true })
        const words = ['serve', '--listen', '127.0.0.1:0', '--log', 'silent']
        expect(await run(words, { STRAND_DATA: own.folder })).toEqual({
          code: 1,
          stdout: '',
          stderr: SENTENCE,
        })
        expect(readdirSync(own.folder)).toEqual([])
        await own.remove()
      },
    )

    test('a key can be declared lost, and what it sealed is rotated', async () => {
      const others = `k2:${Buffer.alloc(32, 8).toString('base64')}`
      const settings = { STRAND_MASTER_KEYS: others, STRAND_LOST_MASTER_KEYS: 'k1' }
      expect(await run(['key', 'rotate', 'aaa', '--yes'], settings)).toMatchObject({ code: 0 })
      expect(await run(['user', 'list'], settings)).toMatchObject({ code: 0 })
    })
  })
}
