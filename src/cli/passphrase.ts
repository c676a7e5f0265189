import type { Config } from '../config.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { MAX_SECRET_FILE, readSmallFile } from '../kit/small-file.ts'
import { askForSecret } from './read-secret.ts'
import { UsageError } from './usage-error.ts'

const SHORTEST = 8

/** The two places that a passphrase may be given in. It is not a flag of its own: on a command line others would see it. */
interface GivenPassphrase {
  readonly file: string | undefined
  readonly config: Config
}

/** The passphrase that was given: the first line of the file, or else the setting. */
export function givenPassphrase({ file, config }: GivenPassphrase): string | undefined {
  return file === undefined ? config.backupPassphrase : passphraseIn(file)
}

/** The passphrase to seal with, asked for twice at a terminal; undefined if the secrets are to stay as they are. */
export async function passphraseToSeal(
  given: GivenPassphrase & { readonly unsealed: boolean },
): Promise<string | undefined> {
  if (given.unsealed) {
    if (given.file === undefined) return undefined
    throw new UsageError('--passphrase-file and --unsealed contradict each other: leave one out')
  }
  const passphrase = givenPassphrase(given)
  if (passphrase !== undefined) return passphrase
  if (process.stdin.isTTY !== true) {
    throw new UsageError(
      'the backup would hold the master keys or the operator token: seal them with --passphrase-file or STRAND_BACKUP_PASSPHRASE, or keep them readable with --unsealed',
    )
  }
  const typed = await askForSecret('Passphrase to seal the secrets with')
  requireLength(typed, 'the passphrase')
  if ((await askForSecret('The same again')) === typed) return typed
  throw new OperatorError('the two passphrases differ: nothing was written')
}

/** The passphrase to open with, asked for at a terminal unless it was given; undefined if there is none. */
export async function passphraseToOpen(given: string | undefined): Promise<string | undefined> {
  return given ?? (process.stdin.isTTY === true ? askForSecret('Passphrase of the backup') : undefined)
}

function passphraseIn(file: string): string {
  let text: string
  try {
    text = readSmallFile(file, MAX_SECRET_FILE)
  } catch (error) {
    throw new OperatorError(`the passphrase file ${file} cannot be read: ${(error as Error).message}`)
  }
  const passphrase = text.split(/\r?\n/)[0] ?? ''
  requireLength(passphrase, `the first line of ${file}`)
  return passphrase
}

function requireLength(passphrase: string, what: string): void {
  if (passphrase.length >= SHORTEST) return
  throw new OperatorError(`${what} must be a passphrase of at least ${SHORTEST} characters`)
}
