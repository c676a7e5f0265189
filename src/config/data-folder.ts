import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { mintSecret } from '../auth/tokens.ts'
import { KeyRing, type MasterKey, masterKeysText, parseMasterKeys } from '../kit/crypto/key-ring.ts'
import { randomAlphanumerics } from '../kit/id.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { MAX_SECRET_FILE, readSmallFile } from '../kit/small-file.ts'
import { isoMillis } from '../kit/time/clock.ts'
import type { Config } from './config.ts'

/** The two secrets in the data folder; settings can provide them instead. */
export interface DataFolder {
  readonly operatorToken: string
  readonly ring: KeyRing
  /** Loads master keys that were changed in the folder; returns whether there were any. */
  followMasterKeys(): boolean
}

/** How often a running server checks for changed master keys. */
export const KEYS_FOLLOWED_MILLISECONDS = 1000

/** Path of the embedded store. */
export function storeFilePath(config: Pick<Config, 'dataFolder'>): string {
  return join(config.dataFolder, 'strand.db')
}

/** The files that a restore replaces. */
export const DATA_FILES = ['strand.db', 'strand.db-wal', 'strand.db-shm', 'master-keys', 'operator-token']
/** A backup that was unpacked and verified, ready to replace the current files. */
export const RESTORED_FOLDER = '.restored'

/**
 * Completes a prepared restore: moves the current files aside and the restored files into place. After an interruption it
 * resumes where it stopped. Returns the folder with the files moved aside, if there were any.
 */
export function completeRestore(folder: string): string | undefined {
  const restored = join(folder, RESTORED_FOLDER)
  if (!existsSync(restored)) return undefined
  const aside = join(restored, 'replaced')
  // Files restored by root belong to the owner of the folder.
  const owner = statSync(folder)
  // Once the store has moved, the files beside it belong to it.
  if (existsSync(join(restored, 'strand.db'))) {
    for (const name of DATA_FILES.filter(each => existsSync(join(folder, each)))) {
      mkdirSync(aside, { recursive: true, mode: 0o700 })
      renameSync(join(folder, name), join(aside, name))
    }
  }
  for (const name of DATA_FILES.filter(each => existsSync(join(restored, each)))) {
    if (process.getuid?.() === 0) chownSync(join(restored, name), owner.uid, owner.gid)
    renameSync(join(restored, name), join(folder, name))
  }
  syncFolder(folder)
  const kept = existsSync(aside) ? join(folder, `before-restore-${stamp(Date.now())}`) : undefined
  if (kept !== undefined) renameSync(aside, kept)
  rmSync(restored, { recursive: true })
  syncFolder(folder)
  return kept
}

/** `20260301T120000Z`: a timestamp for file names. */
export function stamp(milliseconds: number): string {
  return `${isoMillis(milliseconds).slice(0, 19).replace(/[-:]/g, '')}Z`
}

/** Makes the directory entries durable, which `fsync` of a file does not. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

/** Creates the folder if it is missing and checks that it is writable. Creates no secrets yet. */
export function prepareDataFolder(config: Pick<Config, 'dataFolder'>): void {
  const folder = config.dataFolder
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    completeRestore(folder)
    const probe = join(folder, `.writable.${process.pid}`)
    writeFileSync(probe, '', { mode: 0o600 })
    unlinkSync(probe)
  } catch (error) {
    throw unwritable(folder, error)
  }
}

/**
 * Opens the folder and creates missing secrets. Fails if stream keys in the store are sealed with a master key that is
 * missing: with a new key, this node would seal stream keys that no other node can open.
 */
export function openDataFolder(config: Config, sealedWith: Iterable<string> = []): DataFolder {
  const folder = config.dataFolder
  requireMasterKeys(config, sealedWith)
  prepareDataFolder(config)
  try {
    const operatorToken =
      config.operatorToken ?? secretFile(join(folder, 'operator-token'), () => mintSecret('operator'))
    return { operatorToken, ...openMasterKeys(config) }
  } catch (error) {
    throw unwritable(folder, error)
  }
}

function openMasterKeys(config: Config): Pick<DataFolder, 'ring' | 'followMasterKeys'> {
  if (config.masterKeys !== undefined) {
    return { ring: new KeyRing(config.masterKeys), followMasterKeys: () => false }
  }
  const file = masterKeyPath(config)
  const text = secretFile(file, () => masterKeysText([newMasterKey()]))
  const ring = new KeyRing(parseOrRefuse(file, text))
  return { ring, followMasterKeys: follower(ring, file, text) }
}

function unwritable(folder: string, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error
  return new OperatorError(
    `the data folder ${folder} cannot be written: ${(error as Error).message}; choose another with --data or fix its permissions`,
  )
}

function requireMasterKeys(config: Config, sealedWith: Iterable<string>): void {
  const here = new Set([...(readMasterKeys(config) ?? []).map(({ id }) => id), ...config.lostMasterKeys])
  const missing = [...sealedWith].filter(id => !here.has(id))
  if (missing.length === 0) return
  const [keys, are] = missing.length === 1 ? ['key', 'is'] : ['keys', 'are']
  throw new OperatorError(
    `stream keys are sealed with the master ${keys} ${missing.join(', ')}, which ${are} missing: set STRAND_MASTER_KEYS or use --config (if the key is lost for good, set STRAND_LOST_MASTER_KEYS)`,
  )
}

/**
 * Gives files created by root to the owner of the folder, who may be the user of the server. Links are not followed: that
 * user could point them anywhere.
 */
export function chownToOwner(file: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(file))
  lchownSync(file, uid, gid)
}

/** Path of the master keys, unless a setting provides them. */
export function masterKeyPath(config: Pick<Config, 'dataFolder'>): string {
  return join(config.dataFolder, 'master-keys')
}

/**
 * The master keys from the settings or the folder, newest first; undefined if there are none yet. Creates and changes
 * nothing: the caller may run as a different user than the server.
 */
export function readMasterKeys(
  config: Pick<Config, 'dataFolder' | 'masterKeys'>,
): readonly MasterKey[] | undefined {
  const file = masterKeyPath(config)
  if (config.masterKeys !== undefined || !existsSync(file)) return config.masterKeys
  return parseOrRefuse(file, readSecretFile(file).trim())
}

function parseOrRefuse(file: string, text: string): MasterKey[] {
  const keys = parseMasterKeys(text)
  if (keys === undefined) throw new OperatorError(`the file ${file} is damaged: restore it from a backup`)
  return keys
}

export const readSecretFile = (file: string): string => readSmallFile(file, MAX_SECRET_FILE)

export function newMasterKey(): MasterKey {
  return { id: randomAlphanumerics(8), bytes: new Uint8Array(randomBytes(32)) }
}

/** Loads keys that another process writes to the file; `known` is the text the ring was created from. */
function follower(ring: KeyRing, file: string, known: string): () => boolean {
  return () => {
    const text = readSecretFile(file).trim()
    if (text === known) return false
    known = text
    const keys = parseMasterKeys(text)
    if (keys === undefined) throw new Error(`the file ${file} is damaged; keeping the previous keys`)
    ring.take(keys)
    return true
  }
}

/**
 * Replaces the master keys atomically: they are written to a second file, which is renamed. The second file is also the
 * lock, so that only one process changes the keys at a time.
 */
export function changeMasterKeys(
  file: string,
  change: (keys: readonly MasterKey[]) => readonly MasterKey[],
): readonly MasterKey[] {
  const beside = `${file}.changing`
  let handle: number
  try {
    handle = openSync(beside, 'wx', 0o600)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
    throw new OperatorError(
      `another process holds the key lock; if it is stale, delete ${beside} and try again`,
    )
  }
  try {
    const keys = change(parseOrRefuse(file, readSecretFile(file).trim()))
    writeFileSync(handle, `${masterKeysText(keys)}\n`)
    fsyncSync(handle)
    const { uid, gid } = statSync(file)
    if (process.getuid?.() === 0) chownSync(beside, uid, gid)
    renameSync(beside, file)
    syncFolder(dirname(file))
    return keys
  } catch (error) {
    // After the rename the lock may belong to another process.
    rmSync(beside, { force: true })
    throw error
  } finally {
    closeSync(handle)
  }
}

/** The single line of a file that only the owner may read, created on the first start. */
function secretFile(file: string, make: () => string): string {
  if (!existsSync(file)) makeOnce(file, `${make()}\n`)
  chmodSync(file, 0o600)
  const line = readSecretFile(file).trim()
  if (line.length < 20) throw new OperatorError(`the file ${file} is damaged: restore it from a backup`)
  return line
}

/**
 * Creates a file completely and durably before anything depends on it. Of two programs that start together one creates it
 * and both read it: a link, unlike a rename, does not replace an existing file.
 */
function makeOnce(file: string, text: string): void {
  const unfinished = `${file}.${process.pid}`
  writeFileSync(unfinished, text, { mode: 0o600, flush: true })
  try {
    chownToOwner(unfinished)
    linkSync(unfinished, file)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(unfinished)
  }
  syncFolder(dirname(file))
}
