/** A store with what an import and an export need beside it. */
import { StreamKeys } from '../../src/auth/stream-keys.ts'
import { KeyRing } from '../../src/kit/crypto/key-ring.ts'
import { systemClock } from '../../src/kit/time/clock.ts'
import { exportLines } from '../../src/transfer/export.ts'
import { Import, type ImportOptions, type ImportServices } from '../../src/transfer/import.ts'
import { spool } from '../../src/transfer/spool.ts'
import type { EngineName } from '../support/server.ts'
import { openTestStore } from '../support/store/stores.ts'

export interface Station extends ImportServices {
  close(): Promise<void>
}

/** Every station has a separate master key. */
export async function openStation(engine: EngineName): Promise<Station> {
  const { store, close } = await openTestStore(engine)
  const ring = new KeyRing([{ id: 'test', bytes: crypto.getRandomValues(new Uint8Array(32)) }])
  return { store, close, clock: systemClock, streamKeys: new StreamKeys(ring) }
}

export async function exported({ store, streamKeys }: Station, { secrets = false } = {}): Promise<string> {
  let all = ''
  await exportLines(store, secrets ? { streamKeys } : {}, text => {
    all += text
  })
  return all
}

export async function imported(station: Station, text: string, options: Partial<ImportOptions> = {}) {
  const file = await spool(new Blob([text]).stream(), (await import('node:os')).tmpdir())
  const running = new Import(file, { continues: false, dryRun: false, fromLine: 1, ...options }, station)
  try {
    for await (const _ of running.check());
    for await (const _ of running.apply());
    return running.summary()
  } finally {
    await file.close()
  }
}
