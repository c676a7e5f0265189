import { Command } from 'commander'
import { describeFailure } from '../transfer/describe-failure.ts'
import { exportLines } from '../transfer/export.ts'
import { callControl } from './remote.ts'
import { settingsOfExistingStore } from './store-flags.ts'
import { confirmReplacing, type Output, writeFile } from './terminal/output-file.ts'
import { counted, printResult } from './terminal/print.ts'
import { Progress } from './terminal/progress.ts'
import { UsageError } from './usage-error.ts'
import { openApp, requestedServer, type Server, type TargetFlags, targetFlags } from './verbs/target.ts'

interface ExportFlags extends TargetFlags {
  readonly withSecrets?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

export const exportCommand = targetFlags(new Command('export'))
  .description('export users, channels, videos, entitlements and more as NDJSON for strand import')
  .argument('[file]', 'file to write; default: standard output')
  .option('--with-secrets', 'include password hashes, client secret hashes and stream keys')
  .option('--yes', 'overwrite the file if it exists')
  .option('--json', 'print the file name and the number of lines as one line of JSON')
  .addHelpText(
    'after',
    `
The export is a consistent snapshot in a deterministic order; the server can keep running. With secrets, anyone who has the
file can broadcast as any user. Files are created with mode 0600. --with-secrets requires a store.

Examples:
  strand export world.ndjson
  strand export | gzip > world.ndjson.gz
  strand export world.ndjson --yes
  strand export --url http://localhost:8080 --token-file operator-token demo.ndjson
  strand export --with-secrets moving.ndjson`,
  )
  .action(runExport)

type Write = (text: string | Uint8Array, lines: number) => Promise<void>

async function runExport(file: string | undefined, flags: ExportFlags): Promise<void> {
  if (file === undefined && flags.json)
    throw new UsageError('--json requires a file, because the export itself goes to standard output')
  const server = serverForExport(flags)
  if (file !== undefined) await confirmReplacing(file, flags.yes)
  const progress = new Progress('Exporting', { unit: 'lines' })
  const exportTo = async (output: Output) => {
    const write: Write = async (text, lines) => {
      await output(text)
      progress.reach(lines)
    }
    const count = await (server === undefined ? exportLocally(flags, write) : exportRemotely(server, write))
    progress.end()
    return count
  }
  if (file === undefined) return void (await exportTo(text => Bun.write(Bun.stdout, text)))
  const count = await writeFile(file, exportTo)
  await printResult(flags, { file, lines: count }, `${file}: ${counted(count, 'line')}`)
}

/** Secrets leave only a store, so a server is refused before its token is looked for. */
function serverForExport(flags: ExportFlags): Server | undefined {
  const refuse = () => {
    throw new UsageError(
      '--with-secrets cannot be combined with --url or a profile: run it where the store is',
    )
  }
  if (flags.withSecrets && flags.url !== undefined) refuse()
  const server = requestedServer(flags)
  if (flags.withSecrets && server !== undefined) refuse()
  return server
}

async function exportLocally(flags: ExportFlags, write: Write): Promise<number> {
  const app = await openApp(settingsOfExistingStore(flags))
  try {
    const { store, streamKeys } = app.services
    return await exportLines(store, flags.withSecrets ? { streamKeys } : {}, write)
  } catch (error) {
    throw describeFailure(error)
  } finally {
    await app.close()
  }
}

async function exportRemotely(server: Server, write: Write): Promise<number> {
  const response = await callControl(server, '/export')
  let lines = 0
  for await (const piece of response.body ?? new Blob().stream()) {
    for (const byte of piece) if (byte === 0x0a) lines += 1
    await write(piece, lines)
  }
  return lines
}
