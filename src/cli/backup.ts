import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { readConfig } from '../config.ts'
import { stamp } from '../data-folder.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { hasSecrets, makeBackup, unfinishedNames } from '../maintenance/backup.ts'
import type { Manifest } from '../maintenance/manifest.ts'
import { ByteProgress } from './byte-progress.ts'
import { confirm } from './confirm.ts'
import { removeWhenInterrupted } from './interruption.ts'
import { requireReplaceable } from './output-file.ts'
import { passphraseToSeal } from './passphrase.ts'
import { print } from './print.ts'
import { type StoreFlags, storeFlags } from './store-flags.ts'

interface BackupFlags extends StoreFlags {
  readonly passphraseFile?: string
  readonly unsealed: boolean
  readonly yes: boolean
  readonly json: boolean
}

export const backupCommand = storeFlags(new Command('backup'))
  .description('make one file of the embedded store and its secrets; the server may run meanwhile')
  .argument('[file]', 'where to; strand-backup-<moment>.tar if left out')
  .option(
    '--passphrase-file <file>',
    'seal the secrets in it with the passphrase in the first line of this file',
  )
  .option('--unsealed', 'leave the secrets in it readable', false)
  .option('--yes', 'replace the file if it is there', false)
  .option('--json', 'print what is in it as one line of JSON', false)
  .addHelpText(
    'after',
    `
It holds the store as it was at one moment, with everything acknowledged before the backup began. It is a plain tar.

The master keys and the operator token in it are sealed with a passphrase: from --passphrase-file or the setting
STRAND_BACKUP_PASSPHRASE, or typed at the terminal. With --unsealed they are readable: whoever has such a file can read
every stream key. Where settings give both secrets, the backup holds none, and needs neither.

Examples:
  strand backup --passphrase-file passphrase.txt
  STRAND_BACKUP_PASSPHRASE='correct horse battery' strand backup --data /var/lib/strand /var/backups/strand-sealed.tar --yes
  strand backup --unsealed strand-backup.tar`,
  )
  .action(runBackup)

async function runBackup(file: string | undefined, flags: BackupFlags): Promise<void> {
  const config = readConfig({ STRAND_DATA: flags.data, DATABASE_URL: flags.databaseUrl }, flags.config)
  if (config.databaseUrl !== undefined) {
    throw new OperatorError(
      'the store is PostgreSQL, which has its own tools: back it up with pg_dump and keep the master keys, as docs/backup.md says',
    )
  }
  const target = file ?? `strand-backup-${stamp(Date.now())}.tar`
  requireReplaceable(target)
  if (existsSync(target) && !(await confirm(`${target} is there already. Replace it?`, flags.yes))) {
    throw new OperatorError(`${target} was left as it is`)
  }
  const { passphraseFile, unsealed } = flags
  const passphrase = hasSecrets(config)
    ? await passphraseToSeal({ file: passphraseFile, config, unsealed })
    : undefined
  removeWhenInterrupted(unfinishedNames(target))
  let phase = 'copying'
  let progress = new ByteProgress('Copying the store')
  const manifest = await makeBackup({
    config,
    target,
    passphrase,
    onProgress: (now, bytes, of) => {
      if (now !== phase) {
        progress.end()
        progress = new ByteProgress('Packing it')
        phase = now
      }
      progress.reach(bytes, of)
    },
    onNotNoted: reason =>
      process.stderr.write(
        `strand: the backup is complete, but its time could not be noted in the store for the metrics: ${reason}\n`,
      ),
  })
  progress.end()
  await print(
    flags.json ? `${JSON.stringify({ file: target, ...manifest })}\n` : `${summaryOf(target, manifest)}\n`,
  )
}

function summaryOf(target: string, { files, rows, master_keys, secrets }: Manifest): string {
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
  return [
    `${target}: ${Math.ceil(bytes / 1e6).toLocaleString('en-US')} MB, ${total.toLocaleString('en-US')} rows. Check it with: strand verify ${target}`,
    sentenceAboutKeys(master_keys, secrets),
  ].join('\n')
}

function sentenceAboutKeys(keys: Manifest['master_keys'], secrets: Manifest['secrets']): string {
  if (!keys.included) {
    return keys.needed.length === 0
      ? 'There are no master keys in it, and nothing in it needs one.'
      : `The master keys are not in it, as they are not in the data folder: keep them elsewhere. Needed are: ${keys.needed.join(', ')}.`
  }
  return secrets === 'sealed'
    ? 'The master keys in it are sealed: without the passphrase it cannot be restored.'
    : 'The master keys in it are NOT sealed: whoever can read the file can read every stream key. Its mode is 0600.'
}
