import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { OperatorError } from '../kit/operator-error.ts'
import type { Manifest } from '../maintenance/manifest.ts'
import { conflictingFiles, type Restored, restoreBackup, restoringFolder } from '../maintenance/restore.ts'
import { ByteProgress } from './byte-progress.ts'
import { confirm } from './confirm.ts'
import { removeWhenInterrupted } from './interruption.ts'
import { givenPassphrase, passphraseToOpen } from './passphrase.ts'
import { print } from './print.ts'

interface RestoreFlags {
  readonly config?: string
  readonly data?: string
  readonly passphraseFile?: string
  readonly yes: boolean
  readonly json: boolean
}

export const restoreCommand = new Command('restore')
  .description('put the store and the secrets of a backup into a data folder, once every byte was checked')
  .argument('<file>', 'a file that strand backup made')
  .option('--config <file>', 'settings as NAME=value lines')
  .option('--data <folder>', 'STRAND_DATA: the folder, empty or not there yet')
  .option(
    '--passphrase-file <file>',
    'opens the secrets of a sealed backup; else STRAND_BACKUP_PASSPHRASE, or typed at a terminal',
  )
  .option(
    '--yes',
    'put aside what is in the folder; it is kept in a folder before-restore-<moment> inside',
    false,
  )
  .option('--json', 'print what was restored as one line of JSON', false)
  .addHelpText(
    'after',
    `
A backup that is incomplete, altered, or made by a newer version is refused, and nothing is changed. So is a folder that a
server uses.

Examples:
  strand restore strand-backup.tar --data restored
  strand restore strand-sealed.tar --data restored-sealed --passphrase-file passphrase.txt
  strand restore strand-backup.tar --data data --yes`,
  )
  .action(runRestore)

async function runRestore(file: string, flags: RestoreFlags): Promise<void> {
  const config = readConfig({ STRAND_DATA: flags.data }, flags.config)
  const { dataFolder: folder, masterKeys } = config
  const given = givenPassphrase({ file: flags.passphraseFile, config })
  const present = conflictingFiles(folder)
  if (present.length > 0) {
    const question = `The folder ${folder} holds ${present.join(', ')}. Put that aside and restore?`
    if (!(await confirm(question, flags.yes))) throw new OperatorError(`${folder} was left as it is`)
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
  await print(
    flags.json
      ? `${JSON.stringify({ folder, replaced: replaced ?? null, ...manifest, findings })}\n`
      : `${reported(folder, manifest, restored)}\n`,
  )
}

function reported(folder: string, manifest: Manifest, { findings, replaced }: Restored): string {
  const { created_at, strand_version, schema_version, master_keys } = manifest
  const lines = [
    `${folder} is as the store was at ${created_at} (Strand ${strand_version}, schema ${schema_version}): ${findings.rows.toLocaleString('en-US')} rows, ${findings.stream_keys.toLocaleString('en-US')} stream ${findings.stream_keys === 1 ? 'key' : 'keys'} tried.`,
  ]
  if (replaced !== undefined) lines.push(`What was there before is in ${replaced}.`)
  if (!master_keys.included && master_keys.needed.length > 0) {
    lines.push(
      `The master keys are not in the backup: set STRAND_MASTER_KEYS with ${master_keys.needed.join(', ')} before you serve it.`,
    )
  }
  lines.push(`Serve it with: strand serve --data ${folder}`)
  return lines.join('\n')
}
