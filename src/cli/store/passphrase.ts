import type { Config } from '../../config/config.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { MAX_SECRET_FILE } from '../../kit/small-file.ts'
import { readGivenFile } from '../terminal/flag-values.ts'
import { askForSecret } from '../terminal/read-secret.ts'
import { UsageError } from '../usage-error.ts'

const MIN_LENGTH = 8

/** Sources of a passphrase. It is not a flag, because other users could read it in the list of processes. */
interface GivenPassphrase {
  readonly file: string | undefined
  readonly config: Config
}

/** The first line of the file, or the setting. */
export function givenPassphrase({ file, config }: GivenPassphrase): string | undefined {
  return file === undefined ? config.backupPassphrase : passphraseIn(file)
}

/** The passphrase to seal with, typed twice at a terminal unless it is given; undefined with `--unsealed`. */
export async function passphraseToSeal(
  given: GivenPassphrase & { readonly unsealed: boolean },
): Promise<string | undefined> {
  if (given.unsealed) {
    if (given.file === undefined) return undefined
    throw new UsageError('--passphrase-file cannot be combined with --unsealed')
  }
  const passphrase = givenPassphrase(given)
  if (passphrase !== undefined) return passphrase
  if (process.stdin.isTTY !== true) {
    throw new UsageError(
      'the backup would contain unsealed secrets: give a passphrase with --passphrase-file or STRAND_BACKUP_PASSPHRASE, or use --unsealed',
    )
  }
  const typed = await askForSecret('Passphrase to seal the secrets with')
  requireLength(typed, 'the passphrase')
  if ((await askForSecret('Repeat it')) === typed) return typed
  throw new OperatorError('the two passphrases differ: nothing was written')
}

/** The passphrase to open with, typed at a terminal unless it is given; undefined without a terminal. */
export async function passphraseToOpen(given: string | undefined): Promise<string | undefined> {
  return given ?? (process.stdin.isTTY === true ? askForSecret('Passphrase of the backup') : undefined)
}

function passphraseIn(file: string): string {
  const text = readGivenFile(`--passphrase-file ${file}`, file, MAX_SECRET_FILE)
  const passphrase = text.split(/\r?\n/)[0] ?? ''
  requireLength(passphrase, `the first line of ${file}`)
  return passphrase
}

function requireLength(passphrase: string, what: string): void {
  if (passphrase.length >= MIN_LENGTH) return
  throw new OperatorError(`${what} must be a passphrase of at least ${MIN_LENGTH} characters`)
}
