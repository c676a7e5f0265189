import { Command } from 'commander'
import { SETTINGS } from '../../config/settings.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import type { Manifest } from '../../maintenance/manifest.ts'
import { conflictingFiles, type Restored, restoreBackup, restoringFolder } from '../../maintenance/restore.ts'
import { configFlag, readStoreConfig, type StoreFlags, settingFlags } from '../store-flags.ts'
import { ByteProgress } from '../terminal/byte-progress.ts'
import { requireConfirmation } from '../terminal/confirm.ts'
import { removeWhenInterrupted } from '../terminal/interruption.ts'
import { counted, print, printResult } from '../terminal/print.ts'
import { givenPassphrase, passphraseToOpen } from './passphrase.ts'

interface RestoreFlags extends Pick<StoreFlags, 'config' | 'data'> {
  readonly passphraseFile?: string
  readonly yes?: boolean
  readonly json?: boolean
}

export const restoreCommand = settingFlags(configFlag(new Command('restore')), [SETTINGS.dataFolder])
  .description('verify a backup and restore its store and secrets to a data folder')
  .argument('<file>', 'file from strand backup')
  .option(
    '--passphrase-file <file>',
    'file with the passphrase of a sealed backup; default: STRAND_BACKUP_PASSPHRASE, or typed at a terminal',
  )
  .option(
    '--yes',
    'restore to a folder that is not empty; its files are moved to before-restore-<time> inside it',
  )
  .option('--json', 'print the result as one line of JSON')
  .addHelpText(
    'after',
    `
A backup that is incomplete, modified or from a newer version is rejected before anything is changed, as is a folder that a
running server uses.

Examples:
  strand restore strand-backup.tar --data restored
  strand restore strand-sealed.tar --data restored-sealed --passphrase-file passphrase.txt
  strand restore strand-backup.tar --data data --yes`,
  )
  .action(runRestore)

async function runRestore(file: string, flags: RestoreFlags): Promise<void> {
  const config = readStoreConfig(flags)
  const { dataFolder: folder, masterKeys } = config
  const given = givenPassphrase({ file: flags.passphraseFile, config })
  const present = conflictingFiles(folder)
  if (present.length > 0) {
    await requireConfirmation(
      `The folder ${folder} contains ${present.join(', ')}. Move that aside and restore?`,
      flags.yes,
    )
  }
  removeWhenInterrupted([restoringFolder(folder)])
  const progress = new ByteProgress('Unpacking')
  const restored = await restoreBackup({
    file,
    folder,
    passphrase: () => passphraseToOpen(given),
    masterKeys,
    onProgress: (bytes, of) => progress.reach(bytes, of),
  }).catch(async (error: Error) => {
    if (flags.json && error instanceof OperatorError) {
      await print(`${JSON.stringify({ folder, problems: [error.message] })}\n`)
    }
    throw error
  })
  progress.end()
  const { manifest, findings, replaced } = restored
  await printResult(
    flags,
    { folder, replaced: replaced ?? null, ...manifest, findings },
    describeRestored(folder, manifest, restored),
  )
}

function describeRestored(folder: string, manifest: Manifest, { findings, replaced }: Restored): string {
  const { created_at, strand_version, schema_version, master_keys } = manifest
  const lines = [
    `Restored ${folder} from ${created_at} (Strand ${strand_version}, schema ${schema_version}): ${counted(findings.rows, 'row')}, ${counted(findings.stream_keys, 'stream key')} tried.`,
  ]
  if (replaced !== undefined) lines.push(`The previous files are in ${replaced}.`)
  if (!master_keys.included && master_keys.needed.length > 0) {
    lines.push(
      `The backup does not contain the master keys: set STRAND_MASTER_KEYS with ${master_keys.needed.join(', ')} before you serve it.`,
    )
  }
  lines.push(`Serve it with: strand serve --data ${folder}`)
  return lines.join('\n')
}
