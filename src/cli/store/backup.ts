import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { stamp } from '../../config/data-folder.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { hasSecrets, makeBackup, unfinishedFolder } from '../../maintenance/backup.ts'
import type { Manifest } from '../../maintenance/manifest.ts'
import { readStoreConfig, type StoreFlags, storeFlags } from '../store-flags.ts'
import { ByteProgress } from '../terminal/byte-progress.ts'
import { requireConfirmation } from '../terminal/confirm.ts'
import { removeWhenInterrupted } from '../terminal/interruption.ts'
import { requireReplaceable } from '../terminal/output-file.ts'
import { counted, printResult } from '../terminal/print.ts'
import { passphraseToSeal } from './passphrase.ts'

interface BackupFlags extends StoreFlags {
  readonly passphraseFile?: string
  readonly unsealed?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

export const backupCommand = storeFlags(new Command('backup'))
  .description('back up the embedded store and its secrets to one file; the server can keep running')
  .argument('[file]', 'file to write; default: strand-backup-<time>.tar')
  .option('--passphrase-file <file>', 'file whose first line is the passphrase to seal the secrets with')
  .option('--unsealed', 'do not seal the secrets')
  .option('--yes', 'overwrite the file if it exists')
  .option('--json', 'print the contents as one line of JSON')
  .addHelpText(
    'after',
    `
The backup is a consistent snapshot with every write acknowledged before it began, in a plain tar file.

Its master keys and operator token are sealed with a passphrase, from --passphrase-file or STRAND_BACKUP_PASSPHRASE, or
typed at the terminal. With --unsealed they are not, and anyone with the file can read every stream key. If settings give
both secrets, the backup contains neither.

Examples:
  strand backup --passphrase-file passphrase.txt
  STRAND_BACKUP_PASSPHRASE='correct horse battery' strand backup --data /var/lib/strand /var/backups/strand-sealed.tar --yes
  strand backup --unsealed strand-backup.tar`,
  )
  .action(runBackup)

async function runBackup(file: string | undefined, flags: BackupFlags): Promise<void> {
  const config = readStoreConfig(flags)
  if (config.databaseUrl !== undefined) {
    throw new OperatorError(
      'the store is PostgreSQL: back it up with pg_dump and keep the master keys (docs/backup.md)',
    )
  }
  const target = file ?? `strand-backup-${stamp(Date.now())}.tar`
  requireReplaceable(target)
  if (existsSync(target)) await requireConfirmation(`${target} exists. Overwrite it?`, flags.yes)
  const { passphraseFile, unsealed = false } = flags
  const passphrase = hasSecrets(config)
    ? await passphraseToSeal({ file: passphraseFile, config, unsealed })
    : undefined
  removeWhenInterrupted([unfinishedFolder(target)])
  let phase = 'copying'
  let progress = new ByteProgress('Copying the store')
  const manifest = await makeBackup({
    config,
    target,
    passphrase,
    onProgress: (now, bytes, of) => {
      if (now !== phase) {
        progress.end()
        progress = new ByteProgress('Packing')
        phase = now
      }
      progress.reach(bytes, of)
    },
    onNotNoted: reason =>
      process.stderr.write(
        `strand: the backup is complete, but its time could not be recorded for the metrics: ${reason}\n`,
      ),
  })
  progress.end()
  await printResult(flags, { file: target, ...manifest }, describeBackup(target, manifest))
}

function describeBackup(target: string, { files, rows, master_keys, secrets }: Manifest): string {
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
  return [
    `${target}: ${Math.ceil(bytes / 1e6).toLocaleString('en-US')} MB, ${counted(total, 'row')}. Verify it with: strand verify ${target}`,
    describeKeys(master_keys, secrets),
  ].join('\n')
}

function describeKeys(keys: Manifest['master_keys'], secrets: Manifest['secrets']): string {
  if (!keys.included) {
    return keys.needed.length === 0
      ? 'It contains no master keys and needs none.'
      : `It does not contain the master keys, which are not in the data folder: keep ${keys.needed.join(', ')}.`
  }
  return secrets === 'sealed'
    ? 'Its master keys are sealed: it cannot be restored without the passphrase.'
    : 'Its master keys are NOT sealed: anyone who can read the file can read every stream key. Its mode is 0600.'
}
