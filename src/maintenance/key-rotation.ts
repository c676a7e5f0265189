/**
 * Changing the master keys while servers run. A key comes in two steps: first every server can open what it sealed, then
 * they seal with it. What the older ones sealed is sealed anew in batches. Last, a key that nothing needs any more goes.
 */
import { SigningKeySealer } from '../auth/signing-keys.ts'
import { StreamKeys } from '../auth/stream-keys.ts'
import { changeMasterKeys, KEYS_FOLLOWED_MILLISECONDS, newMasterKey } from '../data-folder.ts'
import type { KeyRing } from '../kit/key-ring.ts'
import { OperatorError } from '../kit/operator-error.ts'
import type { Store } from '../store/store.ts'

const AT_ONCE = 500
/** By then every server that runs has looked at the file. */
export const TAKEN_UP_MILLISECONDS = 3 * KEYS_FOLLOWED_MILLISECONDS

/** Puts a new key at the end of the file, where it opens and does not seal yet. */
export function addMasterKey(file: string): string {
  const fresh = newMasterKey()
  changeMasterKeys(file, keys => [...keys, fresh])
  return fresh.id
}

/** Makes a key of the file the one that seals. */
export function promoteMasterKey(file: string, id: string): void {
  changeMasterKeys(file, keys => {
    const chosen = keys.find(key => key.id === id)
    if (chosen === undefined) throw new OperatorError(`there is no master key ${id} in ${file}`)
    return [chosen, ...keys.filter(key => key !== chosen)]
  })
}

/** Takes a key out of the file, once nothing is sealed with it; what was sealed meanwhile brings it back. */
export async function retireMasterKey(store: Store, file: string, id: string): Promise<void> {
  await refuseWhileNeeded(store, id)
  let retired: ReturnType<typeof newMasterKey> | undefined
  changeMasterKeys(file, keys => {
    retired = keys.find(key => key.id === id)
    if (retired === undefined) throw new OperatorError(`there is no master key ${id} in ${file}`)
    if (keys[0] === retired) {
      throw new OperatorError(`the master key ${id} is the newest, which seals: add another first`)
    }
    return keys.filter(key => key !== retired)
  })
  try {
    await Bun.sleep(TAKEN_UP_MILLISECONDS)
    await refuseWhileNeeded(store, id)
  } catch (error) {
    const returning = retired
    if (returning !== undefined) changeMasterKeys(file, keys => [...keys, returning])
    throw error
  }
}

async function refuseWhileNeeded(store: Store, id: string): Promise<void> {
  const streamKeys = (await store.streamKeys.countByMasterKey()).get(id) ?? 0
  const signingKeys = (await store.signingKeys.all()).filter(key => key.key_id === id).length
  const needing = [
    ...(streamKeys > 0 ? [`${streamKeys} stream keys`] : []),
    ...(signingKeys > 0 ? [`${signingKeys} signing keys`] : []),
  ]
  if (needing.length > 0) {
    throw new OperatorError(
      `${needing.join(' and ')} are still sealed with the master key ${id}: run strand key-ring reseal first`,
    )
  }
}

/**
 * Seals the keys that sign ID tokens with the newest master key. One that does not open is left alone and reported: servers
 * make a new one when they find none that they can read.
 */
export async function resealSigningKeys(
  store: Store,
  ring: KeyRing,
): Promise<{ resealed: number; unopened: readonly string[] }> {
  const sealer = new SigningKeySealer(ring)
  const unopened: string[] = []
  let resealed = 0
  for (const row of await store.signingKeys.all()) {
    if (row.key_id === ring.newest) continue
    const key = sealer.open(row)
    if (key === undefined) unopened.push(row.kid)
    else {
      const { number, sealed: was } = row
      resealed += await store.commands.resealSigningKey({ number, was, ...sealer.seal(row.kid, key) })
    }
  }
  return { resealed, unopened }
}

/** How many stream keys are not sealed with the newest key. */
export async function countToReseal(store: Store, ring: KeyRing): Promise<number> {
  const counts = await store.streamKeys.countByMasterKey()
  return [...counts].reduce((sum, [id, count]) => (id === ring.newest ? sum : sum + count), 0)
}

/**
 * Seals every stream key with the newest master key that is not yet, and hashes it anew for look-ups. A row changes at once,
 * so whoever reads meanwhile finds it sealed with one key or the other. Interrupted, it goes on where it was.
 */
export async function reseal(
  store: Store,
  ring: KeyRing,
  onProgress: (done: number) => void,
): Promise<{ resealed: number; unopened: readonly string[] }> {
  const streamKeys = new StreamKeys(ring)
  const unopened: string[] = []
  let resealed = 0
  let last: { user_id: string; version: number } | undefined
  for (;;) {
    const rows = await store.streamKeys.after(last, AT_ONCE, ring.newest)
    if (rows.length === 0) return { resealed, unopened }
    const keys = rows.flatMap(({ user_id, version, key_id, sealed }) => {
      const key = streamKeys.open(user_id, { version, key_id, sealed })
      if (key !== undefined)
        return [{ user_id, version, was: sealed, ...streamKeys.seal(user_id, version, key) }]
      unopened.push(user_id)
      return []
    })
    resealed += await store.commands.resealStreamKeys({ keys })
    onProgress(resealed)
    last = rows.at(-1)
  }
}
