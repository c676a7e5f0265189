import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { type Config, readConfig } from '../config.ts'
import { storeFileOf } from '../data-folder.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { unpackBackup } from '../maintenance/unpack.ts'
import { type Findings, verifyFolder } from '../maintenance/verify.ts'
import { ByteProgress } from './byte-progress.ts'
import { removeWhenInterrupted } from './interruption.ts'
import { givenPassphrase } from './passphrase.ts'
import { print } from './print.ts'
import { type StoreFlags, storeFlags } from './store-flags.ts'

interface VerifyFlags extends StoreFlags {
  readonly passphraseFile?: string
  readonly json: boolean
}

export const verifyCommand = storeFlags(new Command('verify'))
  .description('look through a backup, or else through the embedded store, and say whether it is whole')
  .argument('[file]', 'a file that strand backup made; the store of the data folder if left out')
  .option('--passphrase-file <file>', 'opens the secrets of a sealed backup; else STRAND_BACKUP_PASSPHRASE')
  .option('--json', 'print the findings as one line of JSON', false)
  .addHelpText(
    'after',
    `
Of a backup: every byte against its checksum, then its store, unpacked into the folder for temporary files (TMPDIR). Of a
store: every page, every index, every reference, whether every stream key opens, and whether the audit log is as it was
written. A server may use it meanwhile. Exit code 0: it is whole; 1: it is not.

Examples:
  strand verify
  strand verify --data /var/lib/strand
  strand verify strand-backup.tar`,
  )
  .action(runVerify)

async function runVerify(file: string | undefined, flags: VerifyFlags): Promise<void> {
  const config = readConfig({ STRAND_DATA: flags.data, DATABASE_URL: flags.databaseUrl }, flags.config)
  const what = file ?? config.dataFolder
  const look = () =>
    file === undefined ? verifyStore(config) : verifyBackup(file, config, flags.passphraseFile)
  const findings = await look().catch(async (error: Error) => {
    // One that cannot even be unpacked has findings too.
    if (flags.json && error instanceof OperatorError) await printFindings(what, unreadable(error))
    throw error
  })
  if (flags.json) await printFindings(what, findings)
  else for (const note of findings.notes) await print(`Note: ${note}.\n`)
  if (findings.problems.length > 0) throw new OperatorError(`${what}: ${findings.problems.join('; ')}`)
  if (!flags.json) {
    await print(
      `${what} is whole: ${findings.rows.toLocaleString('en-US')} rows, ${findings.stream_keys.toLocaleString('en-US')} stream ${findings.stream_keys === 1 ? 'key' : 'keys'} tried.\n`,
    )
  }
}

const printFindings = (what: string, findings: Findings) =>
  print(`${JSON.stringify({ what, ...findings })}\n`)

function unreadable({ message }: Error): Findings {
  return { problems: [message], notes: [], stream_keys: 0, rows: 0 }
}

async function verifyStore(config: Config): Promise<Findings> {
  if (config.databaseUrl !== undefined) {
    throw new OperatorError(
      'the store is PostgreSQL, which has its own tools: look through it with pg_amcheck, as docs/backup.md says',
    )
  }
  if (!existsSync(storeFileOf(config))) {
    throw new OperatorError(
      `there is no store in ${config.dataFolder}: name its folder with --data, or a backup`,
    )
  }
  return verifyFolder(config.dataFolder, config.masterKeys)
}

async function verifyBackup(
  file: string,
  config: Config,
  passphraseFile: string | undefined,
): Promise<Findings> {
  const scratch = mkdtempSync(join(tmpdir(), 'strand-verify-'))
  removeWhenInterrupted([scratch])
  const progress = new ByteProgress('Reading')
  try {
    const folder = join(scratch, 'unpacked')
    const given = givenPassphrase({ file: passphraseFile, config })
    await unpackBackup({
      file,
      folder,
      passphrase: async () => given,
      mayLeaveSealed: true,
      onProgress: (bytes, of) => progress.reach(bytes, of),
    })
    progress.end()
    return await verifyFolder(folder, existsSync(join(folder, 'master-keys')) ? undefined : config.masterKeys)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
