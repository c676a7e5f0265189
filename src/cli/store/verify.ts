import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import type { Config } from '../../config/config.ts'
import { storeFilePath } from '../../config/data-folder.ts'
import { OperatorError } from '../../kit/operator-error.ts'
import { unpackBackup } from '../../maintenance/unpack.ts'
import { type Findings, verifyFolder } from '../../maintenance/verify.ts'
import { readStoreConfig, type StoreFlags, storeFlags } from '../store-flags.ts'
import { ByteProgress } from '../terminal/byte-progress.ts'
import { removeWhenInterrupted } from '../terminal/interruption.ts'
import { counted, print } from '../terminal/print.ts'
import { givenPassphrase } from './passphrase.ts'

interface VerifyFlags extends StoreFlags {
  readonly passphraseFile?: string
  readonly json?: boolean
}

export const verifyCommand = storeFlags(new Command('verify'))
  .description('verify the integrity of a backup or of the embedded store')
  .argument('[file]', 'file from strand backup; default: the store in the data folder')
  .option(
    '--passphrase-file <file>',
    'file with the passphrase of a sealed backup; default: STRAND_BACKUP_PASSPHRASE',
  )
  .option('--json', 'print the findings as one line of JSON')
  .addHelpText(
    'after',
    `
For a backup, every byte is checked against its checksum, then its store, unpacked to the temporary folder (TMPDIR). For a
store, every page, index and reference, every stream key and the audit log are checked. The server can keep running. Exit
code 0: intact; 1: damaged.

Examples:
  strand verify
  strand verify --data /var/lib/strand
  strand verify strand-backup.tar`,
  )
  .action(runVerify)

async function runVerify(file: string | undefined, flags: VerifyFlags): Promise<void> {
  const config = readStoreConfig(flags)
  const what = file ?? config.dataFolder
  const verify = () =>
    file === undefined ? verifyStore(config) : verifyBackup(file, config, flags.passphraseFile)
  const findings = await verify().catch(async (error: Error) => {
    // A backup that cannot be unpacked has findings, too.
    if (flags.json && error instanceof OperatorError) await printFindings(what, unreadable(error))
    throw error
  })
  if (flags.json) await printFindings(what, findings)
  else for (const note of findings.notes) await print(`Note: ${note}.\n`)
  if (findings.problems.length > 0) throw new OperatorError(`${what}: ${findings.problems.join('; ')}`)
  if (!flags.json) {
    await print(
      `${what} is intact: ${counted(findings.rows, 'row')}, ${counted(findings.stream_keys, 'stream key')} tried.\n`,
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
    throw new OperatorError('the store is PostgreSQL: verify it with pg_amcheck (docs/backup.md)')
  }
  if (!existsSync(storeFilePath(config))) {
    throw new OperatorError(`no store in ${config.dataFolder}: give its folder with --data, or a backup`)
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
