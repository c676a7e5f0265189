import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { OperatorError } from '../kit/operator-error.ts'

/** Refuses a file that could not be written in the end, before any work is done for it. */
export function requireWritable(file: string): void {
  if (existsSync(file) && statSync(file).isDirectory()) {
    throw new OperatorError(`${file} is a folder: name a file, in it or elsewhere`)
  }
  const folder = dirname(resolve(file))
  if (!existsSync(folder)) throw new OperatorError(`there is no folder ${folder} for ${basename(file)}`)
  try {
    accessSync(existsSync(file) ? file : folder, constants.W_OK)
  } catch (error) {
    throw new OperatorError(`${file} cannot be written: ${(error as Error).message}`)
  }
}

/** The same for a file that is made beside and then takes the place of what is there: of a device, that would be its end. */
export function requireReplaceable(file: string): void {
  requireWritable(file)
  if (existsSync(file) && !statSync(file).isFile()) {
    throw new OperatorError(`${file} is no file that could be replaced: name another`)
  }
}
