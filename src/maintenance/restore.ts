import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { completeRestore, DATA_FILES, RESTORED_FOLDER, syncFolder } from '../data-folder.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { isInUse } from '../store/embedded-file.ts'
import { type Manifest, STORE_FILE } from './manifest.ts'
import { unpackBackup } from './unpack.ts'
import { type Findings, verifyFolder } from './verify.ts'

/** Where a backup is unpacked until it is known to be whole. */
export const restoringFolder = (folder: string) => join(folder, '.restoring')

export interface RestoreOptions {
  readonly file: string
  readonly folder: string
  /** Asked for once it is known that the secrets are sealed. */
  passphrase(): Promise<string | undefined>
  readonly masterKeys: Parameters<typeof verifyFolder>[1]
  onProgress(bytes: number, of: number): void
}

export interface Restored {
  readonly manifest: Manifest
  readonly findings: Findings
  /** Where the files are that were in the folder before. */
  readonly replaced: string | undefined
}

/** What a restore into the folder would replace; nothing if it is empty or not there. */
export function conflictingFiles(folder: string): string[] {
  return existsSync(folder) ? DATA_FILES.filter(name => existsSync(join(folder, name))) : []
}

/**
 * Puts the store and the secrets of a backup into a data folder. It is unpacked inside the folder under another name and
 * checked there. One rename decides; what is left to do then is done by whoever opens the folder next, if not here.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { file, folder } = options
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: Error) => {
    throw new OperatorError(`the folder ${folder} cannot be made: ${error.message}`)
  })
  refuseWhileInUse(folder)
  // One that was decided and cut off comes first.
  completeRestore(folder)
  const unpacked = restoringFolder(folder)
  rmSync(unpacked, { recursive: true, force: true })
  const manifest = await unpackBackup({
    file,
    folder: unpacked,
    passphrase: () => options.passphrase(),
    mayLeaveSealed: false,
    onProgress: options.onProgress,
  })
  const findings = await verifyFolder(unpacked, options.masterKeys)
  if (findings.problems.length > 0) {
    rmSync(unpacked, { recursive: true, force: true })
    throw new OperatorError(`${file} cannot be restored: ${findings.problems[0]}`)
  }
  refuseWhileInUse(folder)
  for (const name of readdirSync(unpacked)) if (/-(wal|shm|journal)$/.test(name)) rmSync(join(unpacked, name))
  syncFolder(unpacked)
  renameSync(unpacked, join(folder, RESTORED_FOLDER))
  syncFolder(folder)
  return { manifest, findings, replaced: completeRestore(folder) }
}

function refuseWhileInUse(folder: string): void {
  if (isInUse(join(folder, STORE_FILE))) {
    throw new OperatorError(
      `a server uses the store in ${folder}: stop it first, or restore into another folder`,
    )
  }
}
