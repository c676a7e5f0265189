import { existsSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../config.ts'
import { readSecretFile, storeFileOf, syncFolder } from '../data-folder.ts'
import { isoMillis } from '../kit/clock.ts'
import { masterKeysText, parseMasterKeys } from '../kit/key-ring.ts'
import { OperatorError } from '../kit/operator-error.ts'
import {
  copyStoreFile,
  noteBackup,
  rowsOf,
  storeSummary,
  streamKeysByMasterKey,
} from '../store/embedded-file.ts'
import { VERSION } from '../version.ts'
import { ArchiveWriter } from './archive.ts'
import { requireFreeSpace } from './free-space.ts'
import {
  CHECKSUM_FILE,
  checksumsOf,
  FORMAT,
  MANIFEST_FILE,
  type Manifest,
  SECRET_FILES,
  type SecretFile,
  STORE_FILE,
  sealedName,
} from './manifest.ts'
import { sealWithPassphrase } from './passphrase.ts'

export interface BackupOptions {
  readonly config: Config
  readonly target: string
  readonly passphrase: string | undefined
  onProgress(phase: 'copying' | 'packing', bytes: number, of: number): void
  /** The backup is made, but the store could not note when. */
  onNotNoted(reason: string): void
}

/** The names that are used until the backup is whole. */
export const unfinishedNames = (target: string) =>
  ['', '.db', '.db-journal', '.db-wal', '.db-shm'].map(
    ending => `${target}.unfinished-${process.pid}${ending}`,
  )

/**
 * Makes one file of the embedded store and its secrets while servers may go on. It gets its name when every byte is on disk;
 * whatever happens before, nothing is there that looks like a backup.
 */
export async function makeBackup(options: BackupOptions): Promise<Manifest> {
  const { config, target } = options
  const store = storeFileOf(config)
  if (!existsSync(store)) {
    throw new OperatorError(`there is no store in ${config.dataFolder}: name its folder with --data`)
  }
  const folder = dirname(resolve(target))
  if (!existsSync(folder)) throw new OperatorError(`there is no folder ${folder} for the backup`)
  // The copy and the archive that is made of it exist at the same time.
  const needed = 2 * (Bun.file(store).size + Bun.file(`${store}-wal`).size)
  requireFreeSpace(folder, needed, 'making a backup', 'name a file elsewhere')
  const [unfinished = '', copy = ''] = unfinishedNames(target)
  try {
    const created = Date.now()
    const before = secretsIn(config)
    await copyStoreFile(store, copy, (bytes, of) => options.onProgress('copying', bytes, of)).catch(
      (error: Error) => {
        throw new OperatorError(`the store could not be copied: ${error.message}`)
      },
    )
    const manifest = await pack(options, unfinished, copy, created, joinedSecrets(before, secretsIn(config)))
    renameSync(unfinished, target)
    syncFolder(folder)
    noteMade(options, store, created)
    return manifest
  } finally {
    for (const name of unfinishedNames(target)) rmSync(name, { force: true })
  }
}

/** For the metrics of the server. The backup is good without. */
function noteMade({ onNotNoted }: BackupOptions, store: string, created: number): void {
  try {
    noteBackup(store, isoMillis(created))
  } catch (error) {
    onNotNoted((error as Error).message)
  }
}

async function pack(
  { target, passphrase, onProgress }: BackupOptions,
  unfinished: string,
  copy: string,
  created: number,
  secrets: ReadonlyMap<SecretFile, string>,
): Promise<Manifest> {
  const file = await open(unfinished, 'wx', 0o600).catch((error: Error) => {
    throw new OperatorError(`the backup ${target} cannot be written: ${error.message}`)
  })
  try {
    const archive = new ArchiveWriter(file, created)
    const size = Bun.file(copy).size
    await archive.addFile(STORE_FILE, copy, bytes => onProgress('packing', bytes, size))
    for (const [name, text] of secrets) {
      if (passphrase === undefined) await archive.add(name, text)
      else await archive.add(sealedName(name), sealWithPassphrase(text, name, passphrase))
    }
    const { schema, feedSeq } = storeSummary(copy)
    const manifest: Manifest = {
      format: FORMAT,
      strand_version: VERSION,
      schema_version: schema,
      created_at: isoMillis(created),
      feed_seq: feedSeq,
      secrets: passphrase === undefined ? 'plain' : 'sealed',
      master_keys: { included: secrets.has('master-keys'), needed: [...streamKeysByMasterKey(copy).keys()] },
      files: [...archive.written],
      rows: rowsOf(copy),
    }
    await archive.add(MANIFEST_FILE, `${JSON.stringify(manifest, null, 2)}\n`)
    await archive.add(CHECKSUM_FILE, checksumsOf(archive.written))
    await archive.end()
    return manifest
  } finally {
    await file.close()
  }
}

/** Whether a backup would hold secrets. */
export const hasSecrets = (config: Config): boolean => secretsIn(config).size > 0

/** What the folder holds of them; those that settings give are not its own. */
function secretsIn({ dataFolder, masterKeys, operatorToken }: Config): Map<SecretFile, string> {
  const isGiven = { 'master-keys': masterKeys !== undefined, 'operator-token': operatorToken !== undefined }
  const own = SECRET_FILES.filter(name => !isGiven[name] && existsSync(join(dataFolder, name)))
  return new Map(own.map(name => [name, readSecretFile(join(dataFolder, name))]))
}

/** A master key may have come or gone while the store was copied: both those from before and those from behind are kept. */
function joinedSecrets(
  before: ReadonlyMap<SecretFile, string>,
  after: ReadonlyMap<SecretFile, string>,
): Map<SecretFile, string> {
  const secrets = new Map([...before, ...after])
  const keysOf = (each: ReadonlyMap<SecretFile, string>) =>
    parseMasterKeys(each.get('master-keys') ?? '') ?? []
  const keys = keysOf(after)
  const gone = keysOf(before).filter(({ id }) => keys.every(key => key.id !== id))
  if (gone.length > 0) secrets.set('master-keys', `${masterKeysText([...keys, ...gone])}\n`)
  return secrets
}
