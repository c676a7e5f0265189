import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { readSecretFile, storeFilePath, syncFolder } from '../config/data-folder.ts'
import { VERSION } from '../config/version.ts'
import { masterKeysText, parseMasterKeys } from '../kit/crypto/key-ring.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { isoMillis } from '../kit/time/clock.ts'
import {
  copyStoreFile,
  countRows,
  noteBackup,
  storeSummary,
  streamKeysByMasterKey,
} from '../store/embedded-file.ts'
import { ArchiveWriter } from './archive.ts'
import { requireFreeSpace } from './free-space.ts'
import {
  CHECKSUM_FILE,
  FORMAT,
  formatChecksums,
  MANIFEST_FILE,
  type Manifest,
  SECRET_FILES,
  type SecretFile,
  STORE_FILE,
  sealedName,
} from './manifest.ts'
import { Passphrase } from './passphrase.ts'

export interface BackupOptions {
  readonly config: Config
  readonly target: string
  readonly passphrase: string | undefined
  onProgress(phase: 'copying' | 'packing', bytes: number, of: number): void
  /** The backup is complete, but its time could not be recorded in the store. */
  onNotNoted(reason: string): void
}

/** Holds what is unfinished until the backup is complete. Once it is removed, nothing can be created in it. */
export const unfinishedFolder = (target: string) => `${target}.unfinished-${process.pid}`

/**
 * Packs the embedded store and its secrets into one file; servers may keep running. The file gets its name only when every
 * byte is on disk, so an interrupted run leaves nothing that looks like a backup.
 */
export async function makeBackup(options: BackupOptions): Promise<Manifest> {
  const { config, target } = options
  const store = storeFilePath(config)
  if (!existsSync(store)) {
    throw new OperatorError(`no store in ${config.dataFolder}: give its folder with --data`)
  }
  const folder = dirname(resolve(target))
  if (!existsSync(folder)) throw new OperatorError(`cannot write the backup: no folder ${folder}`)
  // The copy and the archive made from it exist at the same time.
  const needed = 2 * (Bun.file(store).size + Bun.file(`${store}-wal`).size)
  requireFreeSpace(folder, needed, 'a backup', 'write it to another disk')
  const scratch = unfinishedFolder(target)
  const unfinished = join(scratch, 'unfinished.tar')
  const copy = join(scratch, STORE_FILE)
  makeFolder(scratch, target)
  try {
    const created = Date.now()
    const before = secretsIn(config)
    await copyStoreFile(store, copy, (bytes, of) => options.onProgress('copying', bytes, of)).catch(
      (error: Error) => {
        throw new OperatorError(`copying the store failed: ${error.message}`)
      },
    )
    const manifest = await pack(options, unfinished, copy, created, mergeSecrets(before, secretsIn(config)))
    renameSync(unfinished, target)
    syncFolder(folder)
    recordTime(options, store, created)
    return manifest
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The server exports the time as a metric. The backup is valid without it. */
function recordTime({ onNotNoted }: BackupOptions, store: string, created: number): void {
  try {
    noteBackup(store, isoMillis(created))
  } catch (error) {
    onNotNoted((error as Error).message)
  }
}

function makeFolder(scratch: string, target: string): void {
  try {
    mkdirSync(scratch, { mode: 0o700 })
  } catch (error) {
    throw new OperatorError(`cannot write the backup ${target}: ${(error as Error).message}`)
  }
}

async function pack(
  { passphrase, onProgress }: BackupOptions,
  unfinished: string,
  copy: string,
  created: number,
  secrets: ReadonlyMap<SecretFile, string>,
): Promise<Manifest> {
  const file = await open(unfinished, 'wx', 0o600)
  try {
    const archive = new ArchiveWriter(file, created)
    const size = Bun.file(copy).size
    await archive.addFile(STORE_FILE, copy, bytes => onProgress('packing', bytes, size))
    const sealer = passphrase === undefined ? undefined : new Passphrase(passphrase)
    for (const [name, text] of secrets) {
      if (sealer === undefined) await archive.add(name, text)
      else await archive.add(sealedName(name), sealer.seal(text, name))
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
      rows: countRows(copy),
    }
    await archive.add(MANIFEST_FILE, `${JSON.stringify(manifest, null, 2)}\n`)
    await archive.add(CHECKSUM_FILE, formatChecksums(archive.written))
    await archive.end()
    return manifest
  } finally {
    await file.close()
  }
}

/** Whether a backup would contain secrets. */
export const hasSecrets = (config: Config): boolean => secretsIn(config).size > 0

/** The secrets of the data folder, except those that a setting overrides. */
function secretsIn({ dataFolder, masterKeys, operatorToken }: Config): Map<SecretFile, string> {
  const isSetting = { 'master-keys': masterKeys !== undefined, 'operator-token': operatorToken !== undefined }
  const names = SECRET_FILES.filter(name => !isSetting[name] && existsSync(join(dataFolder, name)))
  return new Map(names.map(name => [name, readSecretFile(join(dataFolder, name))]))
}

/** Master keys may be added or removed while the store is copied, so those from before and those from after are kept. */
function mergeSecrets(
  before: ReadonlyMap<SecretFile, string>,
  after: ReadonlyMap<SecretFile, string>,
): Map<SecretFile, string> {
  const secrets = new Map([...before, ...after])
  const listKeys = (each: ReadonlyMap<SecretFile, string>) =>
    parseMasterKeys(each.get('master-keys') ?? '') ?? []
  const keys = listKeys(after)
  const removed = listKeys(before).filter(({ id }) => keys.every(key => key.id !== id))
  if (removed.length > 0) secrets.set('master-keys', `${masterKeysText([...keys, ...removed])}\n`)
  return secrets
}
