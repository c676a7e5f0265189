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
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { mintSecret } from './auth/tokens.ts'
import { type Config, parseMasterKeys } from './config.ts'
import { CannotStart } from './kit/cannot-start.ts'
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

export function openDataFolder(config: Config): DataFolder {
  const folder = config.dataFolder
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
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
  const folder = openSync(dirname(file), 'r')
  fsyncSync(folder)
  closeSync(folder)
}
