import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { mintSecret } from './auth/tokens.ts'
import { type Config, parseMasterKeys } from './config.ts'
import { CannotStart } from './kit/cannot-start.ts'
import { isoMillis } from './kit/clock.ts'
import { randomAlphanumerics } from './kit/id.ts'
import { KeyRing } from './kit/key-ring.ts'

/** What the data folder holds beside the embedded store: the two secrets that settings may give instead. */
export interface DataFolder {
  readonly operatorToken: string
  readonly ring: KeyRing
}

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
  // Once the store has moved, what lies beside it is its own.
  if (existsSync(join(restored, 'strand.db'))) {
    for (const name of DATA_FILES.filter(each => existsSync(join(folder, each)))) {
      mkdirSync(aside, { recursive: true, mode: 0o700 })
      renameSync(join(folder, name), join(aside, name))
    }
  }
  for (const name of DATA_FILES.filter(each => existsSync(join(restored, each)))) {
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

export function openDataFolder(config: Config): DataFolder {
  const folder = config.dataFolder
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    completeRestore(folder)
    const probe = join(folder, '.writable')
    writeFileSync(probe, '', { mode: 0o600 })
    return {
      operatorToken:
        config.operatorToken ?? secretFile(join(folder, 'operator-token'), () => mintSecret('operator')),
      ring: new KeyRing(config.masterKeys ?? masterKeysIn(join(folder, 'master-keys'))),
    }
  } catch (error) {
    if (error instanceof CannotStart) throw error
    throw new CannotStart(
      `the data folder ${folder} cannot be written: ${(error as Error).message}; choose another with --data or mend its permissions`,
    )
  }
}

function masterKeysIn(file: string) {
  const fresh = () => `${randomAlphanumerics(8)}:${randomBytes(32).toString('base64')}`
  const keys = parseMasterKeys(secretFile(file, fresh))
  if (keys === undefined) throw new CannotStart(`the file ${file} is damaged: restore it from a backup`)
  return keys
}

/** The one line of a file that only the owner may read, made on the first start. */
function secretFile(file: string, make: () => string): string {
  if (!existsSync(file)) makeOnce(file, `${make()}\n`)
  chmodSync(file, 0o600)
  const line = readFileSync(file, 'utf8').trim()
  if (line.length < 20) throw new CannotStart(`the file ${file} is damaged: restore it from a backup`)
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
    linkSync(unfinished, file)
  } catch (error) {
    if ((error as { code?: string }).code !== 'EEXIST') throw error
  } finally {
    unlinkSync(unfinished)
  }
  syncFolder(dirname(file))
}
