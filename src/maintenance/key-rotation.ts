/**
 * Rotates the master keys while servers run. A new key is introduced in two steps: first every server can open what it
 * sealed, then servers seal with it. Data sealed with older keys is resealed in batches. Finally, unused keys are removed.
 */
import { EventSecrets } from '../auth/event-secrets.ts'
import { SigningKeySealer } from '../auth/signing-keys.ts'
import { StreamKeys } from '../auth/stream-keys.ts'
import { changeMasterKeys, KEYS_FOLLOWED_MILLISECONDS, newMasterKey } from '../config/data-folder.ts'
import type { KeyRing } from '../kit/crypto/key-ring.ts'
import type { Sealed } from '../kit/crypto/secret-box.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { type SealedKind, type SealedRow, STREAM_KEY_KINDS } from '../store/queries/sealed-secrets.ts'
import type { Store } from '../store/store.ts'

export { STREAM_KEY_KINDS }

/** After this time every running server has read the file again. */
export const TAKEN_UP_MILLISECONDS = 3 * KEYS_FOLLOWED_MILLISECONDS

/** Adds a new key at the end of the file, where it opens but does not seal yet. */
export function addMasterKey(file: string): string {
  const key = newMasterKey()
  changeMasterKeys(file, keys => [...keys, key])
  return key.id
}

/** Makes a key in the file the one that seals. */
export function promoteMasterKey(file: string, id: string): void {
  changeMasterKeys(file, keys => {
    const chosen = keys.find(key => key.id === id)
    if (chosen === undefined) throw new OperatorError(`no master key ${id} in ${file}`)
    return [chosen, ...keys.filter(key => key !== chosen)]
  })
}

/** Removes a key from the file if nothing is sealed with it. If a server sealed with it meanwhile, the key is put back. */
export async function retireMasterKey(store: Store, file: string, id: string): Promise<void> {
  await refuseWhileNeeded(store, id)
  let retired: ReturnType<typeof newMasterKey> | undefined
  changeMasterKeys(file, keys => {
    retired = keys.find(key => key.id === id)
    if (retired === undefined) throw new OperatorError(`no master key ${id} in ${file}`)
    if (keys[0] === retired) {
      throw new OperatorError(`the master key ${id} is the newest and seals new data: add another key first`)
    }
    return keys.filter(key => key !== retired)
  })
  try {
    await Bun.sleep(TAKEN_UP_MILLISECONDS)
    await refuseWhileNeeded(store, id)
  } catch (error) {
    const removed = retired
    if (removed !== undefined) changeMasterKeys(file, keys => [...keys, removed])
    throw error
  }
}

/** How many secrets each master key has sealed. */
export const countSealed = async ({ sealedSecrets }: Store) => ({
  'stream key': await sealedSecrets.countByMasterKey(...STREAM_KEY_KINDS),
  'signing key': await sealedSecrets.countByMasterKey('signing_key'),
  'webhook secret': await sealedSecrets.countByMasterKey('webhook_secret'),
})

async function refuseWhileNeeded(store: Store, id: string): Promise<void> {
  const sealed = Object.entries(await countSealed(store)).flatMap(([noun, counts]) => {
    const count = counts.get(id) ?? 0
    return count > 0 ? [`${count} ${noun}s`] : []
  })
  if (sealed.length > 0) {
    throw new OperatorError(
      `${sealed.join(' and ')} are still sealed with the master key ${id}: run strand key-ring reseal first`,
    )
  }
}

/** The number of stream keys that are not sealed with the newest key. */
export async function countToReseal(store: Store, ring: KeyRing): Promise<number> {
  const { 'stream key': counts } = await countSealed(store)
  return [...counts].reduce((sum, [id, count]) => (id === ring.newest ? sum : sum + count), 0)
}

/** Opens a secret and seals it with the newest master key; undefined if no master key opens it. */
type Sealer = (row: SealedRow) => (Sealed & { readonly lookup_hash?: string }) | undefined

const streamKeySealer = (ring: KeyRing): Sealer => {
  const streamKeys = new StreamKeys(ring)
  return row => {
    const key = streamKeys.open(row.owner, row)
    return key === undefined ? undefined : streamKeys.seal(row.owner, row.slot, key)
  }
}

const SEALERS: Readonly<Record<SealedKind, (ring: KeyRing) => Sealer>> = {
  stream_key: streamKeySealer,
  extra_stream_key: streamKeySealer,
  signing_key: ring => {
    const sealer = new SigningKeySealer(ring)
    return row => {
      const key = sealer.open({ ...row, kid: row.owner })
      return key && sealer.seal(row.owner, key)
    }
  },
  webhook_secret: ring => {
    const eventSecrets = new EventSecrets(ring)
    return row => {
      const secret = eventSecrets.open(row.owner, row)
      return secret === undefined ? undefined : eventSecrets.seal(row.owner, secret)
    }
  },
}

/**
 * Reseals every secret of these kinds that is not sealed with the newest master key; of stream keys, this changes the lookup
 * hash too. Each row changes atomically, so concurrent readers see it sealed with one key or the other. An interrupted run
 * can be repeated. The owners of secrets that cannot be opened are returned.
 */
export async function reseal(
  store: Store,
  ring: KeyRing,
  kinds: readonly SealedKind[],
  onProgress: (done: number) => void = () => undefined,
): Promise<{ resealed: number; unopened: readonly string[] }> {
  const unopened: string[] = []
  let resealed = 0
  for (const kind of kinds) {
    const seal = SEALERS[kind](ring)
    for await (const rows of store.sealedSecrets.batches(kind, ring.newest)) {
      const secrets = rows.flatMap(row => {
        const sealed = seal(row)
        if (sealed !== undefined) return [{ lookup_hash: '', ...sealed, owner: row.owner, was: row.sealed }]
        unopened.push(row.owner)
        return []
      })
      resealed += await store.commands.resealSecrets({ kind, secrets })
      onProgress(resealed)
    }
  }
  return { resealed, unopened }
}
