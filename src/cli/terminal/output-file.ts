import { accessSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { OperatorError } from '../../kit/operator-error.ts'
import { append, SpoolError } from '../../transfer/spool.ts'
import { requireConfirmation } from './confirm.ts'
import { removeWhenInterrupted } from './interruption.ts'

export type Output = (text: string | Uint8Array) => Promise<unknown>

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

/** The same, and asks for confirmation if the file exists. */
export async function confirmReplacing(file: string, yes: boolean | undefined): Promise<void> {
  requireReplaceable(file)
  if (existsSync(file)) await requireConfirmation(`${file} exists. Overwrite it?`, yes)
}

/** Writes to a temporary name and renames the file when it is complete. */
export async function writeFile<T>(file: string, work: (output: Output) => Promise<T>): Promise<T> {
  const unfinished = `${file}.${process.pid}.unfinished`
  removeWhenInterrupted([unfinished])
  let handle: FileHandle
  try {
    // Created at once, so that no interruption comes between its creation and its removal.
    closeSync(openSync(unfinished, 'wx', 0o600))
    handle = await open(unfinished, 'r+')
  } catch (error) {
    throw new OperatorError(`cannot write ${file}: ${(error as Error).message}`)
  }
  try {
    const result = await work(text => append(handle, text))
    await handle.sync()
    await handle.close()
    await rename(unfinished, file)
    return result
  } catch (error) {
    await handle.close().catch(() => undefined)
    await rm(unfinished, { force: true })
    throw error instanceof SpoolError ? new OperatorError(`cannot write ${file}: ${error.message}`) : error
  }
}
