import { statSync } from 'node:fs'
import { Command } from 'commander'
import type { ImportEvent } from '../contract/control/transfer.ts'
import { prepareDataFolder } from '../data-folder.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { describeFailure } from '../transfer/describe-failure.ts'
import {
  Import,
  type ImportOptions,
  type ImportSummary,
  type SkippedLine,
  WrongLine,
} from '../transfer/import.ts'
import { linesOf } from '../transfer/lines.ts'
import { comingFrom, openFile, type Rereadable, SpoolError, spool } from '../transfer/spool.ts'
import { commandLine } from './command-line.ts'
import { callControl } from './remote.ts'
import { settingsOfExistingStore, settingsOfNamedStore } from './store-flags.ts'
import { ByteProgress } from './terminal/byte-progress.ts'
import { print } from './terminal/print.ts'
import { Progress } from './terminal/progress.ts'
import { UsageError } from './usage-error.ts'
import { openAppOf, type Server, serverOf, type TargetFlags, targetFlags } from './verbs/target.ts'

/** Of a file in which everything is wrong, not everything is held in memory. */
const MAX_SKIPPED_KEPT = 10_000

interface ImportFlags extends TargetFlags {
  readonly dryRun: boolean
  readonly continue: boolean
  readonly fromLine: string
  readonly json: boolean
}

export const importCommand = targetFlags(new Command('import'))
  .description('make or change everything that the lines of a file tell of')
  .argument('<file>', 'lines of JSON as strand export writes them; - for standard input')
  .option('--dry-run', 'only check', false)
  .option('--continue', 'leave out lines that are wrong, and tell each', false)
  .option('--from-line <number>', 'begin at this line; those before are in the store', '1')
  .option('--json', 'print the summary as JSON', false)
  .addHelpText(
    'after',
    `
Every line is checked first. One that is wrong is told with its number, and nothing is changed. The same file may be read
again: what is there already is left alone. The server may run meanwhile. A folder given with --data that is new or empty
gets a store of its own.

Examples:
  strand import --dry-run world.ndjson
  strand import world.ndjson
  strand import --data restored world.ndjson
  gunzip < world.ndjson.gz | strand import -
  strand import --url http://localhost:8080 --token-file operator-token demo.ndjson`,
  )
  .action(runImport)

async function runImport(file: string, flags: ImportFlags): Promise<void> {
  if (!/^[1-9][0-9]{0,8}$/.test(flags.fromLine))
    throw new UsageError(`--from-line must be a number from 1, not "${flags.fromLine}"`)
  const options = { continues: flags.continue, dryRun: flags.dryRun, fromLine: Number(flags.fromLine) }
  const server = serverOf(flags)
  const { summary, skipped_lines } =
    server === undefined
      ? await importLocally(file, flags, options)
      : await importRemotely(file, server, options)
  await print(flags.json ? `${JSON.stringify({ ...summary, skipped_lines })}\n` : inWords(summary))
  if (summary.skipped > 0)
    throw new OperatorError(
      `${summary.skipped === 1 ? '1 line was' : `${summary.skipped} lines were`} left out; each is told above`,
    )
}

async function importLocally(file: string, flags: ImportFlags, options: ImportOptions): Promise<Followed> {
  const config = flags.dryRun ? settingsOfExistingStore(flags) : settingsOfNamedStore(flags)
  if (config.spoolFolder === config.dataFolder) prepareDataFolder(config)
  let input: Rereadable | undefined
  try {
    input = await openInput(file, config.spoolFolder)
    const app = await openAppOf(config)
    try {
      const store = app.services.store.as(commandLine('ImportLines'))
      const running = new Import(input, options, { ...app.services, store })
      const { size } = input
      return await follow(running.run(), options, { size, bytesRead: () => running.bytesRead })
    } finally {
      await app.close()
    }
  } catch (error) {
    if (error instanceof SpoolError)
      throw new OperatorError(
        `${config.spoolFolder} has no room for the input (${error.message}): set STRAND_SPOOL to a folder with more`,
      )
    if (!(error instanceof WrongLine)) throw describeFailure(error)
    const name = file === '-' ? 'standard input' : file
    const state = error.isApplied ? 'the lines before it were imported' : 'nothing was changed'
    throw new OperatorError(`${name}, ${error.message}; ${state}`)
  } finally {
    await input?.close()
  }
}

async function importRemotely(file: string, server: Server, options: ImportOptions): Promise<Followed> {
  const query = new URLSearchParams({
    continue: String(options.continues),
    dry_run: String(options.dryRun),
    from_line: String(options.fromLine),
  })
  const input = await openInput(file)
  const total = input.size === undefined ? undefined : input.size / 1e6
  const sending = new Progress('sending', { unit: 'MB', total })
  async function* body(): AsyncGenerator<Uint8Array> {
    let sent = 0
    for await (const piece of input.read()) {
      yield piece
      sent += piece.length
      sending.reach(sent / 1e6)
    }
    sending.end()
  }
  try {
    const init = { method: 'POST', body: body() as unknown as ReadableStream, duplex: 'half' }
    const response = await callControl(server, `/import?${query}`, init as RequestInit)
    return await follow(eventsIn(response), options)
  } finally {
    await input.close()
  }
}

/** What the server reports; a failure is thrown. */
async function* eventsIn(response: Response): AsyncGenerator<ImportEvent> {
  for await (const lines of linesOf(response.body ?? new Blob().stream())) {
    for (const { text = '{}' } of lines) {
      const event = JSON.parse(text) as ImportEvent
      if ('failure' in event) throw new OperatorError(`the server says: ${event.failure.message}`)
      yield event
    }
  }
}

/** A file is read where it is. What can be read only once is kept in the folder for a second reading, if there is one. */
async function openInput(file: string, spoolFolder?: string): Promise<Rereadable> {
  try {
    if (file !== '-' && statSync(file).isDirectory()) throw new Error('it is a folder')
    if (file !== '-' && statSync(file).isFile()) return await openFile(file)
  } catch (error) {
    throw new OperatorError(`${file} cannot be read: ${(error as Error).message}`)
  }
  const pieces = file === '-' ? Bun.stdin.stream() : comingFrom(file)
  if (spoolFolder !== undefined) return spool(pieces, spoolFolder)
  return { size: undefined, read: () => pieces, close: async () => undefined }
}

interface Followed {
  readonly summary: ImportSummary
  readonly skipped_lines: readonly SkippedLine[]
}

/** Shows progress on a terminal, and skipped lines on standard error wherever that goes. */
async function follow(
  events: AsyncIterable<ImportEvent>,
  { dryRun, continues }: ImportOptions,
  file?: { readonly size: number | undefined; bytesRead(): number },
): Promise<Followed> {
  const skipped_lines: SkippedLine[] = []
  const firstReading = dryRun || !continues ? 'checking' : 'importing'
  let bar: ByteProgress | Progress = new ByteProgress(firstReading)
  let began = performance.now()
  for await (const event of events) {
    if ('summary' in event) {
      if (bar instanceof Progress) bar.reach(event.summary.lines)
      bar.end()
      return { summary: event.summary, skipped_lines }
    }
    if ('skipped' in event) {
      process.stderr.write(`line ${event.skipped.line}: ${event.skipped.message}; left out\n`)
      if (skipped_lines.length < MAX_SKIPPED_KEPT) skipped_lines.push(event.skipped)
    } else if ('progress' in event) {
      const { lines, of: total } = event.progress
      // How many lines there are is known at the second reading; at the first, how large the file is.
      const size = total === undefined ? file?.size : undefined
      if (bar instanceof ByteProgress && file && size !== undefined) bar.reach(file.bytesRead(), size)
      else if (bar instanceof Progress && bar.total === total) bar.reach(lines)
      else {
        bar.end()
        bar = new Progress(total === undefined ? firstReading : 'importing', { unit: 'lines', total, began })
        bar.reach(lines)
      }
      began = performance.now()
    }
  }
  throw new OperatorError('the answer of the server ended in the middle: run it again, nothing happens twice')
}

function inWords({ lines, skipped, types, dry_run, seconds, lines_per_second }: ImportSummary): string {
  const count = (value: number) => value.toLocaleString('en-US')
  const rows = Object.entries(types).map(
    ([type, { created, changed, unchanged }]) =>
      `  ${type.padEnd(14)}${count(created)} created, ${count(changed)} changed, ${count(unchanged)} unchanged\n`,
  )
  const head = dry_run
    ? `${count(lines)} lines checked, ${count(skipped)} of them wrong; nothing was changed.`
    : `${count(lines)} lines in ${count(seconds)} s, ${count(lines_per_second)} a second; ${count(skipped)} left out.`
  return `${head}\n${rows.join('')}`
}
