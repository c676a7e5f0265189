import { beforeEach, expect, test } from 'bun:test'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import { SigningKeys } from '../../src/auth/signing-keys.ts'
import { newMasterKey } from '../../src/config/data-folder.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { reseal } from '../../src/maintenance/key-rotation.ts'
import { Unavailable } from '../../src/store/errors.ts'
import { engines } from '../support/server.ts'
import { openTestStore } from '../support/store/stores.ts'

const DAY = 24 * 3600 * 1000

/** A key takes a third of a second to make, so every test gets the same ones, one after the other. */
const pairs: { publicKey: KeyObject; privateKey: KeyObject }[] = []
let made = 0
async function nextPair() {
  const pair = pairs[made] ?? generateKeyPairSync('rsa', { modulusLength: 2048 })
  pairs[made++] = pair
  return pair
}
beforeEach(() => {
  made = 0
})

const newKeys = (store: ConstructorParameters<typeof SigningKeys>[0], ring: KeyRing, now: () => number) =>
  new SigningKeys(store, ring, { now }, nextPair)

const kidOf = async (keys: SigningKeys) => decodeProtectedHeader(await keys.sign({ sub: '1' })).kid

for (const engine of engines) {
  const withStore = async (
    work: (store: Awaited<ReturnType<typeof openTestStore>>['store']) => Promise<void>,
  ) => {
    const { store, close } = await openTestStore(engine)
    try {
      await work(store)
    } finally {
      await close()
    }
  }

  test(`nodes that need the first key at once all get the same, on ${engine}`, () =>
    withStore(async store => {
      const ring = new KeyRing([newMasterKey()])
      const nodes = Array.from({ length: 2 }, () => newKeys(store, ring, () => Date.now()))
      // Each is asked twice: a node makes one key, not one for each request.
      const kids = await Promise.all([...nodes, ...nodes].map(kidOf))
      expect(new Set(kids).size).toBe(1)
      expect(await store.signingKeys.all()).toHaveLength(1)
      const [one, other] = nodes as [SigningKeys, SigningKeys]
      const verified = await jwtVerify(
        await one.sign({ sub: '42' }),
        createLocalJWKSet({ keys: await other.published() }),
      )
      expect(verified.payload.sub).toBe('42')
    }))

  test(`the private half is sealed, moves to a new master key, and is made again if that is lost, on ${engine}`, () =>
    withStore(async store => {
      const [first, second] = [newMasterKey(), newMasterKey()]
      const ring = new KeyRing([first])
      const keys = newKeys(store, ring, () => Date.now())
      const kid = await kidOf(keys)
      const [row] = await store.signingKeys.all()
      expect(row?.key_id).toBe(first.id)
      expect(JSON.parse(row?.public_jwk ?? '')).not.toHaveProperty('d')
      expect(row?.sealed).not.toContain('"d"')

      ring.take([second, first])
      expect(await reseal(store, ring, ['signing_key'])).toEqual({ resealed: 1, unopened: [] })
      expect(await reseal(store, ring, ['signing_key'])).toEqual({ resealed: 0, unopened: [] })
      ring.take([second])
      expect(await kidOf(keys)).toBe(kid)

      const strange = new KeyRing([newMasterKey()])
      expect(await reseal(store, strange, ['signing_key'])).toMatchObject({ resealed: 0, unopened: [kid] })
      const elsewhere = newKeys(store, strange, () => Date.now())
      const fresh = await kidOf(elsewhere)
      expect(fresh).not.toBe(kid)
      const published = (await elsewhere.published()).map(key => key.kid)
      expect(published).toEqual([fresh ?? '', kid ?? ''])
    }))

  test(`the next key takes over after it was published, and old ones go, on ${engine}`, () =>
    withStore(async store => {
      let now = Date.parse('2026-01-01T00:00:00.000Z')
      const keys = newKeys(store, new KeyRing([newMasterKey()]), () => now)
      const seen = new Set<string>()
      for (let period = 0; period < 5; period++) {
        const kid = (await kidOf(keys)) ?? ''
        expect(seen.has(kid)).toBe(false)
        seen.add(kid)
        now += 91 * DAY
        expect(await kidOf(keys)).toBe(kid)
        for (let tries = 0; tries < 500 && (await keys.published()).length < 2; tries++) await Bun.sleep(10)
        expect(await kidOf(keys)).toBe(kid)
        now += DAY
      }
      expect((await store.signingKeys.all()).length).toBeLessThanOrEqual(3)
    }))

  test(`keys that were removed are replaced, and no longer published, on ${engine}`, () =>
    withStore(async store => {
      const ring = new KeyRing([newMasterKey()])
      const node = () => newKeys(store, ring, () => Date.now())
      const stolen = await kidOf(node())
      expect(await store.commands.removeSigningKeys({})).toBe(1)
      const later = node()
      const kid = await kidOf(later)
      expect(kid).not.toBe(stolen)
      expect((await later.published()).map(key => key.kid)).toEqual([kid ?? ''])
    }))

  test(`while the store is away, known keys sign, and a node without any reports it, on ${engine}`, () =>
    withStore(async store => {
      const ring = new KeyRing([newMasterKey()])
      let away = false
      const all = async () => {
        if (away) throw new Unavailable('away')
        return store.signingKeys.all()
      }
      const shaky = { ...store, signingKeys: { all } }
      const keys = newKeys(shaky, ring, () => Date.now())
      const kid = await kidOf(keys)
      away = true
      ring.take([...ring.ids].map(() => newMasterKey()))
      expect(await kidOf(keys)).toBe(kid)
      await expect(kidOf(newKeys(shaky, ring, () => Date.now()))).rejects.toThrow('away')
    }))
}
