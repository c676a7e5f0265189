import { CannotStart } from '../kit/cannot-start.ts'
import { LARGEST_SECRET_FILE, readSmallFile } from '../kit/small-file.ts'

const SHORTEST = 8

/** The first line of the file that `--passphrase-file` names. On a command line others would see it. */
export function readPassphrase(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  let text: string
  try {
    text = readSmallFile(file, LARGEST_SECRET_FILE)
  } catch (error) {
    throw new CannotStart(`the passphrase file ${file} cannot be read: ${(error as Error).message}`)
  }
  const passphrase = text.split(/\r?\n/)[0] ?? ''
  if (passphrase.length < SHORTEST) {
    throw new CannotStart(`the first line of ${file} must be a passphrase of at least ${SHORTEST} characters`)
  }
  return passphrase
}
