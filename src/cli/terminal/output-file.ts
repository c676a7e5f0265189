import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { OperatorError } from '../../kit/operator-error.ts'

/** Throws if the file cannot be written, before any work is done. */
export function requireWritable(file: string): void {
  if (existsSync(file) && statSync(file).isDirectory()) {
    throw new OperatorError(`${file} is a folder: give a file`)
  }
  const folder = dirname(resolve(file))
  if (!existsSync(folder)) throw new OperatorError(`cannot write ${basename(file)}: no folder ${folder}`)
  try {
    accessSync(existsSync(file) ? file : folder, constants.W_OK)
  } catch (error) {
    throw new OperatorError(`cannot write ${file}: ${(error as Error).message}`)
  }
}

/** The same for a file that is replaced by renaming, which must not replace a device. */
export function requireReplaceable(file: string): void {
  requireWritable(file)
  if (existsSync(file) && !statSync(file).isFile()) {
    throw new OperatorError(`${file} is not a regular file: give another`)
  }
}
