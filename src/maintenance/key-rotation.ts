/**
 * Rotates the master keys while servers run. A new key is introduced in two steps: first every server can open what it
 * sealed, then servers seal with it. Data sealed with older keys is resealed in batches. Finally, unused keys are removed.
 */
import { EventSecrets } from '../auth/event-secrets.ts'
import { SigningKeySealer } from '../auth/signing-keys.ts'
import { StreamKeys } from '../auth/stream-keys.ts'
import { changeMasterKeys, KEYS_FOLLOWED_MILLISECONDS, newMasterKey } from '../data-folder.ts'
import type { KeyRing } from '../kit/key-ring.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { STREAM_KEY_KINDS, type StreamKeyRow } from '../store/queries/stream-keys.ts'
import type { Store } from '../store/store.ts'

const BATCH_ROWS = 500
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

async function refuseWhileNeeded(store: Store, id: string): Promise<void> {
  const streamKeys = (await store.streamKeys.countByMasterKey()).get(id) ?? 0
  const signingKeys = (await store.signingKeys.all()).filter(key => key.key_id === id).length
  const webhookSecrets = (await store.eventSecrets.countByMasterKey()).get(id) ?? 0
  const sealed = [
    ...(streamKeys > 0 ? [`${streamKeys} stream keys`] : []),
    ...(signingKeys > 0 ? [`${signingKeys} signing keys`] : []),
    ...(webhookSecrets > 0 ? [`${webhookSecrets} webhook secrets`] : []),
  ]
  if (sealed.length > 0) {
    throw new OperatorError(
      `${sealed.join(' and ')} are still sealed with the master key ${id}: run strand key-ring reseal first`,
    )
  }
}

/**
 * Reseals the keys that sign ID tokens with the newest master key. Keys that cannot be opened are skipped and reported:
 * servers create a new signing key if they can read none.
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

/** Reseals the secrets of webhooks with the newest master key. Those that cannot be opened are skipped and reported. */
export async function resealWebhookSecrets(
  store: Store,
  ring: KeyRing,
): Promise<{ resealed: number; unopened: readonly string[] }> {
  const eventSecrets = new EventSecrets(ring)
  const unopened: string[] = []
  let resealed = 0
  for (let after = ''; ; ) {
    const rows = await store.eventSecrets.after(after, BATCH_ROWS, ring.newest)
    const last = rows.at(-1)
    if (last === undefined) return { resealed, unopened }
    const secrets = rows.flatMap(row => {
      const secret = eventSecrets.open(row.id, row)
      if (secret !== undefined) return [{ id: row.id, was: row.sealed, ...eventSecrets.seal(row.id, secret) }]
      unopened.push(row.id)
      return []
    })
    resealed += await store.commands.resealEventSecrets({ secrets })
    after = last.id
  }
}

/** The number of stream keys that are not sealed with the newest key. */
export async function countToReseal(store: Store, ring: KeyRing): Promise<number> {
  const counts = await store.streamKeys.countByMasterKey()
  return [...counts].reduce((sum, [id, count]) => (id === ring.newest ? sum : sum + count), 0)
}

/**
 * Reseals every stream key that is not sealed with the newest master key, and recomputes its lookup hash. Each row changes
 * atomically, so concurrent readers see it sealed with one key or the other. An interrupted run can be repeated.
 */
export async function reseal(
  store: Store,
  ring: KeyRing,
  onProgress: (done: number) => void,
): Promise<{ resealed: number; unopened: readonly string[] }> {
  const streamKeys = new StreamKeys(ring)
  const unopened: string[] = []
  let resealed = 0
  for (const kind of STREAM_KEY_KINDS) {
    let last: StreamKeyRow | undefined
    for (;;) {
      const rows = await store.streamKeys.after(kind, last, BATCH_ROWS, ring.newest)
      if (rows.length === 0) break
      const keys = rows.flatMap(row => {
        const { user_id, slot, sealed: was } = row
        const key = streamKeys.open(user_id, row)
        if (key !== undefined) return [{ user_id, slot, was, ...streamKeys.seal(user_id, slot, key) }]
        unopened.push(user_id)
        return []
      })
      resealed += await store.commands.resealStreamKeys({ kind, keys })
      onProgress(resealed)
      last = rows.at(-1)
    }
  }
  return { resealed, unopened }
}
