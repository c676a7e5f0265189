import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { completeRestore, DATA_FILES, RESTORED_FOLDER, syncFolder } from '../config/data-folder.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { isInUse } from '../store/embedded-file.ts'
import { type Manifest, STORE_FILE } from './manifest.ts'
import { unpackBackup } from './unpack.ts'
import { type Findings, verifyFolder } from './verify.ts'

/** Where a backup is unpacked until it has been verified. */
export const restoringFolder = (folder: string) => join(folder, '.restoring')

export interface RestoreOptions {
  readonly file: string
  readonly folder: string
  /** Called only if the secrets are sealed. */
  passphrase(): Promise<string | undefined>
  readonly masterKeys: Parameters<typeof verifyFolder>[1]
  onProgress(bytes: number, of: number): void
}

export interface Restored {
  readonly manifest: Manifest
  readonly findings: Findings
  /** The folder with the files that were replaced. */
  readonly replaced: string | undefined
}

/** The files that a restore into the folder would replace. */
export function conflictingFiles(folder: string): string[] {
  return existsSync(folder) ? DATA_FILES.filter(name => existsSync(join(folder, name))) : []
}

/**
 * Restores the store and the secrets of a backup into a data folder. The backup is unpacked into a subfolder and verified
 * there. A rename of that subfolder commits the restore; if it is interrupted after that, the next process that opens the
 * folder completes it.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { file, folder } = options
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: Error) => {
    throw new OperatorError(`cannot create the folder ${folder}: ${error.message}`)
  })
  refuseWhileInUse(folder)
  // First complete an earlier restore that was interrupted.
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
    throw new OperatorError(`cannot restore ${file}: ${findings.problems[0]}`)
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
      `a server is using the store in ${folder}: stop it first, or restore into another folder`,
    )
  }
}
