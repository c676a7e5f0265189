import { existsSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { Command } from 'commander'
import { StreamKeys } from '../auth/stream-keys.ts'
import { openDataFolder } from '../data-folder.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { openStore } from '../open-store.ts'
import { describeFailure } from '../transfer/describe-failure.ts'
import { exportLines, SealedKey } from '../transfer/export.ts'
import { SpoolError, writeAll } from '../transfer/spool.ts'
import { confirm } from './confirm.ts'
import { removeWhenInterrupted } from './interruption.ts'
import { requireReplaceable } from './output-file.ts'
import { print } from './print.ts'
import { Progress } from './progress.ts'
import { callControl } from './remote.ts'
import { settingsOfExistingStore } from './store-flags.ts'
import { UsageError } from './usage-error.ts'
import { type Server, serverOf, type TargetFlags, targetFlags } from './verbs/target.ts'

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

type Write = (text: string | Uint8Array, lines: number) => Promise<void>

async function runExport(file: string | undefined, flags: ExportFlags): Promise<void> {
  if (flags.url !== undefined && flags.withSecrets) {
    throw new UsageError('--with-secrets works on the store itself: leave --url out, and run it there')
  }
  if (file === undefined && flags.json) {
    throw new UsageError('--json tells of the file: name one, as standard output has the lines')
  }
  const server = serverOf(flags)
  if (file !== undefined) await mayReplace(file, flags.yes)
  const work = (write: Write) =>
    server === undefined ? exportStore(flags, write) : exportServer(server, write)
  const progress = new Progress('exporting', { unit: 'lines' })
  let count = 0
  const reported = async (write: (text: string | Uint8Array) => Promise<unknown>) => {
    await work(async (text, lines) => {
      await write(text)
      count = lines
      progress.reach(lines)
    })
    progress.end()
  }
  if (file === undefined) return reported(text => Bun.write(Bun.stdout, text))
  await intoFile(file, reported)
  const lines = `${count.toLocaleString('en-US')} ${count === 1 ? 'line' : 'lines'}`
  await print(flags.json ? `${JSON.stringify({ file, lines: count })}\n` : `${file}: ${lines}\n`)
}

async function mayReplace(file: string, yes: boolean): Promise<void> {
  requireReplaceable(file)
  if (existsSync(file) && !(await confirm(`${file} is there already. Replace it?`, yes))) {
    throw new OperatorError(`${file} was left as it is`)
  }
}

/** The file is there when it is whole. */
async function intoFile(
  file: string,
  work: (write: (text: string | Uint8Array) => Promise<unknown>) => Promise<void>,
): Promise<void> {
  const unfinished = `${file}.${process.pid}.unfinished`
  removeWhenInterrupted([unfinished])
  let handle: FileHandle
  try {
    handle = await open(unfinished, 'wx', 0o600)
  } catch (error) {
    throw new OperatorError(`${file} cannot be written: ${(error as Error).message}`)
  }
  try {
    await work(text => writeAll(handle, typeof text === 'string' ? new TextEncoder().encode(text) : text))
    await handle.sync()
    await handle.close()
    await rename(unfinished, file)
  } catch (error) {
    await handle.close().catch(() => undefined)
    await rm(unfinished, { force: true })
    throw error instanceof SpoolError
      ? new OperatorError(`${file} cannot be written: ${error.message}`)
      : error
  }
}

async function exportStore(flags: ExportFlags, write: Write): Promise<void> {
  const config = settingsOfExistingStore(flags)
  const streamKeys = flags.withSecrets ? new StreamKeys(openDataFolder(config).ring) : undefined
  const store = await openStore(config)
  try {
    await exportLines(store, { streamKeys }, write)
  } catch (error) {
    if (!(error instanceof SealedKey)) throw describeFailure(error)
    throw new OperatorError(`${error.message}: set STRAND_MASTER_KEYS, or --data to the folder that has them`)
  } finally {
    await store.close()
  }
}

async function exportServer(server: Server, write: Write): Promise<void> {
  const response = await callControl(server, '/export')
  let lines = 0
  for await (const piece of response.body ?? new Blob().stream()) {
    for (const byte of piece) if (byte === 0x0a) lines += 1
    await write(piece, lines)
  }
}
