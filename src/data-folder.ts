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
import { mintSecret } from './auth/tokens.ts'
import { type Config, masterKeysText, parseMasterKeys } from './config.ts'
import { isoMillis } from './kit/clock.ts'
import { randomAlphanumerics } from './kit/id.ts'
import { KeyRing, type MasterKey } from './kit/key-ring.ts'
import { OperatorError } from './kit/operator-error.ts'
import { MAX_SECRET_FILE, readSmallFile } from './kit/small-file.ts'

/** What the data folder holds beside the embedded store: the two secrets that settings may give instead. */
export interface DataFolder {
  readonly operatorToken: string
  readonly ring: KeyRing
  /** Takes up master keys that were changed in the folder; tells whether there were any. */
  followMasterKeys(): boolean
}

/** How often a running server looks whether its master keys were changed. */
export const KEYS_FOLLOWED_MILLISECONDS = 1000

/** Where the embedded store is. */
export function storeFileOf(config: Pick<Config, 'dataFolder'>): string {
  return join(config.dataFolder, 'strand.db')
}

/** What a restore replaces. */
export const DATA_FILES = ['strand.db', 'strand.db-wal', 'strand.db-shm', 'master-keys', 'operator-token']
/** A backup that was unpacked and found whole, and is to take the place of what is there. */
export const RESTORED_FOLDER = '.restored'

/**
 * Finishes a restore that was decided: what was there is put aside and what was restored takes its place. Done again after
 * an interruption it goes on where it was. Gives the folder with what was put aside, if there was anything.
 */
export function completeRestore(folder: string): string | undefined {
  const restored = join(folder, RESTORED_FOLDER)
  if (!existsSync(restored)) return undefined
  const aside = join(restored, 'replaced')
  // Restored by root, it still belongs to whom the folder belongs to.
  const owner = statSync(folder)
  // Once the store has moved, what lies beside it is its own.
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

/** `20260301T120000Z`: a moment as part of a name. */
export function stamp(milliseconds: number): string {
  return `${isoMillis(milliseconds).slice(0, 19).replace(/[-:]/g, '')}Z`
}

/** Makes sure that the names in a folder are on disk, as `fsync` of a file does not. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r')
  fsyncSync(handle)
  closeSync(handle)
}

/** Makes the folder, if it is not there, and finds out whether it can be written. No secret is made yet. */
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
 * Opens the folder and makes the secrets that are missing. Not so where stream keys in the store are sealed with a master key
 * that is not here: whoever went on with a new one would seal what nobody else can open.
 */
export function openDataFolder(config: Config, sealedWith: Iterable<string> = []): DataFolder {
  const folder = config.dataFolder
  requireMasterKeys(config, sealedWith)
  prepareDataFolder(config)
  try {
    const operatorToken =
      config.operatorToken ?? secretFile(join(folder, 'operator-token'), () => mintSecret('operator'))
    return { operatorToken, ...masterKeysOf(config) }
  } catch (error) {
    throw unwritable(folder, error)
  }
}

function masterKeysOf(config: Config): Pick<DataFolder, 'ring' | 'followMasterKeys'> {
  if (config.masterKeys !== undefined) {
    return { ring: new KeyRing(config.masterKeys), followMasterKeys: () => false }
  }
  const file = masterKeyFileOf(config)
  const text = secretFile(file, () => masterKeysText([newMasterKey()]))
  const ring = new KeyRing(parseOrRefuse(file, text))
  return { ring, followMasterKeys: follower(ring, file, text) }
}

function unwritable(folder: string, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error
  return new OperatorError(
    `the data folder ${folder} cannot be written: ${(error as Error).message}; choose another with --data or mend its permissions`,
  )
}

function requireMasterKeys(config: Config, sealedWith: Iterable<string>): void {
  const here = new Set([...(readMasterKeys(config) ?? []).map(({ id }) => id), ...config.lostMasterKeys])
  const missing = [...sealedWith].filter(id => !here.has(id))
  if (missing.length === 0) return
  const [keys, are] = missing.length === 1 ? ['key', 'is'] : ['keys', 'are']
  throw new OperatorError(
    `stream keys are sealed with the master ${keys} ${missing.join(', ')}, which ${are} not here: give STRAND_MASTER_KEYS or --config (or, if nobody has it any more, STRAND_LOST_MASTER_KEYS)`,
  )
}

/**
 * What root makes in a folder belongs to whom the folder belongs to: the server may be somebody else. A link is not followed,
 * for that somebody could let it lead anywhere.
 */
export function chownToOwner(file: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(file))
  lchownSync(file, uid, gid)
}

/** Where the master keys are, unless a setting gives them. */
export function masterKeyFileOf(config: Pick<Config, 'dataFolder'>): string {
  return join(config.dataFolder, 'master-keys')
}

/**
 * The master keys that a setting gives or that are in the folder, newest first; undefined if there are none yet. Nothing is
 * made or changed on the way: whoever looks may be somebody else than the server.
 */
export function readMasterKeys(
  config: Pick<Config, 'dataFolder' | 'masterKeys'>,
): readonly MasterKey[] | undefined {
  const file = masterKeyFileOf(config)
  if (config.masterKeys !== undefined || !existsSync(file)) return config.masterKeys
  return parseOrRefuse(file, readSecretFile(file).trim())
}

function parseOrRefuse(file: string, text: string): MasterKey[] {
  const keys = parseMasterKeys(text)
  if (keys === undefined) throw new OperatorError(`the file ${file} is damaged: restore it from a backup`)
  return keys
}

/** The text of one of the two secrets. */
export const readSecretFile = (file: string): string => readSmallFile(file, MAX_SECRET_FILE)

export function newMasterKey(): MasterKey {
  return { id: randomAlphanumerics(8), bytes: new Uint8Array(randomBytes(32)) }
}

/** Takes up what somebody else puts into the file; `known` is what the ring was made of. */
function follower(ring: KeyRing, file: string, known: string): () => boolean {
  return () => {
    const text = readSecretFile(file).trim()
    if (text === known) return false
    known = text
    const keys = parseMasterKeys(text)
    if (keys === undefined) throw new Error(`the file ${file} is damaged; the keys from before are kept`)
    ring.take(keys)
    return true
  }
}

/**
 * Puts other master keys into the file. They are written beside it and take its place at once, so that whoever reads it finds
 * one or the other; the name beside it is taken by one who changes them at a time.
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
      `somebody else changes the master keys: if nobody does, delete ${beside} and try again`,
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
    // Once it has moved, the name beside it may be somebody else's.
    rmSync(beside, { force: true })
    throw error
  } finally {
    closeSync(handle)
  }
}

/** The one line of a file that only the owner may read, made on the first start. */
function secretFile(file: string, make: () => string): string {
  if (!existsSync(file)) makeOnce(file, `${make()}\n`)
  chmodSync(file, 0o600)
  const line = readSecretFile(file).trim()
  if (line.length < 20) throw new OperatorError(`the file ${file} is damaged: restore it from a backup`)
  return line
}

/**
 * Puts a file there whole and on disk, before anything is that depends on it. Of two programs that start together one
 * makes it and both read it: a link, unlike a rename, does not replace what is there.
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
