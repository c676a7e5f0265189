import { existsSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { Command } from 'commander'
import { OperatorError } from '../kit/operator-error.ts'
import { describeFailure } from '../transfer/describe-failure.ts'
import { exportLines } from '../transfer/export.ts'
import { SpoolError, writeAll } from '../transfer/spool.ts'
import { callControl } from './remote.ts'
import { settingsOfExistingStore } from './store-flags.ts'
import { confirm } from './terminal/confirm.ts'
import { removeWhenInterrupted } from './terminal/interruption.ts'
import { requireReplaceable } from './terminal/output-file.ts'
import { print } from './terminal/print.ts'
import { Progress } from './terminal/progress.ts'
import { UsageError } from './usage-error.ts'
import { openAppOf, type Server, serverOf, type TargetFlags, targetFlags } from './verbs/target.ts'

interface ExportFlags extends TargetFlags {
  readonly withSecrets: boolean
  readonly yes: boolean
  readonly json: boolean
}

export const exportCommand = targetFlags(new Command('export'))
  .description('write everything down as lines of JSON that strand import takes')
  .argument('[file]', 'where to write; standard output if left out')
  .option('--with-secrets', 'password hashes, client secret hashes and stream keys too', false)
  .option('--yes', 'replace the file if it is there', false)
  .option('--json', 'print the name of the file and how many lines it has as one line of JSON', false)
  .addHelpText(
    'after',
    `
The lines are one consistent state, in an order that depends on nothing else; the server may run meanwhile. With secrets
the file is as good as the store and the master keys: whoever has it can broadcast as anybody. It is written so that only
you can read it, and only from the store itself, not with --url.

Examples:
  strand export world.ndjson
  strand export | gzip > world.ndjson.gz
  strand export world.ndjson --yes
  strand export --url http://localhost:8080 --token-file operator-token demo.ndjson
  strand export --with-secrets moving.ndjson`,
  )
  .action(runExport)

type Output = (text: string | Uint8Array) => Promise<unknown>
type Write = (text: string | Uint8Array, lines: number) => Promise<void>

async function runExport(file: string | undefined, flags: ExportFlags): Promise<void> {
  if (flags.url !== undefined && flags.withSecrets)
    throw new UsageError('--with-secrets works on the store itself: leave --url out, and run it there')
  if (file === undefined && flags.json)
    throw new UsageError('--json tells of the file: name one, as standard output has the lines')
  const server = serverOf(flags)
  if (file !== undefined) await requireMayReplace(file, flags.yes)
  const progress = new Progress('exporting', { unit: 'lines' })
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
  const count = await intoFile(file, exportTo)
  const lines = `${count.toLocaleString('en-US')} ${count === 1 ? 'line' : 'lines'}`
  await print(flags.json ? `${JSON.stringify({ file, lines: count })}\n` : `${file}: ${lines}\n`)
}

async function requireMayReplace(file: string, yes: boolean): Promise<void> {
  requireReplaceable(file)
  if (existsSync(file) && !(await confirm(`${file} is there already. Replace it?`, yes)))
    throw new OperatorError(`${file} was left as it is`)
}

/** The file appears under its name when it is complete. */
async function intoFile(file: string, work: (output: Output) => Promise<number>): Promise<number> {
  const unfinished = `${file}.${process.pid}.unfinished`
  removeWhenInterrupted([unfinished])
  let handle: FileHandle
  try {
    handle = await open(unfinished, 'wx', 0o600)
  } catch (error) {
    throw new OperatorError(`${file} cannot be written: ${(error as Error).message}`)
  }
  try {
    const encoder = new TextEncoder()
    const count = await work(text => writeAll(handle, typeof text === 'string' ? encoder.encode(text) : text))
    await handle.sync()
    await handle.close()
    await rename(unfinished, file)
    return count
  } catch (error) {
    await handle.close().catch(() => undefined)
    await rm(unfinished, { force: true })
    throw error instanceof SpoolError
      ? new OperatorError(`${file} cannot be written: ${error.message}`)
      : error
  }
}

async function exportLocally(flags: ExportFlags, write: Write): Promise<number> {
  const app = await openAppOf(settingsOfExistingStore(flags))
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
