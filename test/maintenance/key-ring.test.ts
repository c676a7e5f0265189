import { afterAll, afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StreamKeys } from '../../src/auth/stream-keys.ts'
import { changeMasterKeys, newMasterKey } from '../../src/config/data-folder.ts'
import { Cursors } from '../../src/http/endpoint/cursor.ts'
import { KeyRing, type MasterKey, parseMasterKeys } from '../../src/kit/crypto/key-ring.ts'
import { Proofs } from '../../src/kit/crypto/signed-text.ts'
import { reseal } from '../../src/maintenance/key-rotation.ts'
import { Browser } from '../../src/site/request/browser.ts'
import { STREAM_KEY_KINDS } from '../../src/store/queries/sealed-secrets.ts'
import { endAllProcesses } from '../support/cli/strand-process.ts'
import { engines } from '../support/server.ts'
import { openTestStore } from '../support/store/stores.ts'
import { Installation, runStrand } from './installation.ts'

const scratch = mkdtempSync(join(tmpdir(), 'strand-keys-'))
afterEach(endAllProcesses)
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

for (const engine of engines) {
  test(`sealing again keeps every key findable, passes over what does not open, and can be repeated, on ${engine}`, async () => {
    const { store, close } = await openTestStore(engine)
    try {
      const [first, second, foreign] = [newMasterKey(), newMasterKey(), newMasterKey()]
      const ring = new KeyRing([first])
      const streamKeys = new StreamKeys(ring)
      const plain = new Map<string, string>()
      for (let n = 0; n < 1203; n++) {
        const { key, stored } = streamKeys.mint(String(n), 1)
        plain.set(String(n), key)
        await store.commands.putUser({ id: String(n), login: `u${n}`, stream_key: stored, now: 0 })
      }
      const extra = streamKeys.mint('1001', 'guest')
      await store.commands.createStreamKey({
        user_id: '1001',
        name: 'guest',
        stream_key: extra.stored,
        valid_until: null,
        now: 0,
      })
      const strange = new StreamKeys(new KeyRing([foreign])).mint('9999', 1).stored
      await store.commands.putUser({ id: '9999', login: 'strange', stream_key: strange, now: 0 })

      ring.take([second, first])
      const steps: number[] = []
      expect(await reseal(store, ring, STREAM_KEY_KINDS, done => steps.push(done))).toEqual({
        resealed: 1204,
        unopened: ['9999'],
      })
      expect(steps.length).toBeGreaterThan(2)
      expect(await reseal(store, ring, STREAM_KEY_KINDS)).toEqual({ resealed: 0, unopened: ['9999'] })

      ring.take([second])
      const rows = (await Array.fromAsync(store.sealedSecrets.batches('stream_key'))).flat()
      expect(rows).toHaveLength(1204)
      for (const row of rows.filter(each => each.owner !== '9999')) {
        const key = plain.get(row.owner) as string
        expect(streamKeys.open(row.owner, row)).toBe(key)
        expect(streamKeys.lookupHashes(key)).toEqual([row.lookup_hash])
      }
      const [guest] = (await Array.fromAsync(store.sealedSecrets.batches('extra_stream_key'))).flat()
      expect(guest && streamKeys.open('1001', guest)).toBe(extra.key)
      expect(streamKeys.lookupHashes(extra.key)).toEqual([guest?.lookup_hash ?? ''])
      expect(await store.sealedSecrets.countByMasterKey(...STREAM_KEY_KINDS)).toEqual(
        new Map([
          [foreign.id, 1],
          [second.id, 1204],
        ]),
      )
    } finally {
      await close()
    }
  })
}

describe('what an older key of the ring made', () => {
  test('a cursor still opens, until that key is retired', () => {
    const [old, fresh] = [newMasterKey(), newMasterKey()]
    const ring = new KeyRing([old])
    const cursors = new Cursors(ring)
    const bookmark = { first: ['1'], last: ['2'], memory: undefined }
    const before = cursors.seal('list', bookmark)
    ring.take([fresh, old])
    expect(cursors.open('list', before)).toEqual(bookmark)
    const after = cursors.seal('list', bookmark)
    expect(after).not.toBe(before)
    ring.take([fresh])
    expect(cursors.open('list', before)).toBeUndefined()
    expect(cursors.open('list', after)).toEqual(bookmark)
  })

  test('a form that was shown before is still believed', async () => {
    const [old, fresh, foreign] = [newMasterKey(), newMasterKey(), newMasterKey()]
    const cookie = `__Host-strand-form=${'a'.repeat(32)}`
    const browser = (keys: readonly MasterKey[], csrf?: string) =>
      new Browser(
        {
          request: new Request('http://localhost/login', {
            method: 'POST',
            headers: { cookie, 'content-type': 'application/x-www-form-urlencoded' },
            body: `csrf=${csrf}`,
          }),
          path: '/login',
          search: '',
          address: () => '127.0.0.1',
          requestId: 'one',
        },
        { csrfProofs: new Proofs(new KeyRing(keys), 'page-forms'), publicUrl: 'http://localhost' },
      )
    const proof = browser([old]).csrfToken()
    expect(await browser([fresh, old], proof).form()).toBeDefined()
    expect(await browser([fresh], proof).form()).toBeUndefined()
    expect(await browser([foreign], browser([fresh, old]).csrfToken()).form()).toBeUndefined()
  })
})

describe('the file of the master keys', () => {
  test('is replaced at once, for the owner alone, by one at a time', () => {
    const file = join(scratch, 'master-keys')
    const [one, two] = [newMasterKey(), newMasterKey()]
    writeFileSync(file, `one:${Buffer.from(one.bytes).toString('base64')}\n`)
    changeMasterKeys(file, keys => [two, ...keys])
    expect(parseMasterKeys(readFileSync(file, 'utf8').trim())?.map(key => key.id)).toEqual([two.id, 'one'])
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const text = readFileSync(file, 'utf8')
    expect(() => changeMasterKeys(file, () => changeMasterKeys(file, keys => keys))).toThrow(
      'another process holds the key lock',
    )
    expect(readFileSync(file, 'utf8')).toBe(text)
  })

  test('keys that a setting gives are changed there', async () => {
    const folder = join(scratch, 'given')
    const environment = { STRAND_MASTER_KEYS: `given:${Buffer.alloc(32, 7).toString('base64')}` }
    const strand = await Installation.start(folder, environment)
    await strand.process.end('SIGTERM')
    const refused = await runStrand(['key-ring', 'add', '--data', folder], environment)
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(/^strand: [^\n]*STRAND_MASTER_KEYS[^\n]*\n$/)
    expect((await runStrand(['key-ring', 'list', '--data', join(scratch, 'nowhere')])).stderr).toContain(
      '--data',
    )
    expect((await runStrand(['key-ring', 'retire', 'x', '--data', folder])).code).toBe(1)
  })
})
