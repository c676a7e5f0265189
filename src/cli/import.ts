import { statSync } from 'node:fs'
import { Command } from 'commander'
import { prepareDataFolder } from '../config/data-folder.ts'
import type { ImportEvent } from '../contract/control/transfer.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { isStoreUnused } from '../server/open-store.ts'
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
import { interruptionMessage } from './import-interruption.ts'
import { callControl } from './remote.ts'
import { settingsOfExistingStore, settingsOfNamedStore } from './store-flags.ts'
import { ByteProgress } from './terminal/byte-progress.ts'
import { paintFor } from './terminal/colour.ts'
import { wholeNumber } from './terminal/flag-values.ts'
import { Interrupted, onStopSignal } from './terminal/interruption.ts'
import { counted, printResult } from './terminal/print.ts'
import { Progress } from './terminal/progress.ts'
import { type Cell, FittedTable } from './terminal/table.ts'
import { widthOfTerminal } from './terminal/width.ts'
import { openApp, requestedServer, type Server, type TargetFlags, targetFlags } from './verbs/target.ts'

/** Bounds the memory for a file in which every line is invalid. */
const MAX_SKIPPED_KEPT = 10_000

interface ImportFlags extends TargetFlags {
  readonly dryRun?: boolean
  readonly continue?: boolean
  readonly fromLine: number
  readonly json?: boolean
}

export const importCommand = targetFlags(new Command('import'))
  .description('import an NDJSON file: create what is missing, update what differs')
  .argument('<file>', 'file from strand export, or in the same format; - for standard input')
  .option('--dry-run', 'check the file and change nothing')
  .option('--continue', 'skip and report invalid lines instead of stopping')
  .option(
    '--from-line <number>',
    'line to start at; the lines before it must be in the store',
    wholeNumber('--from-line', 1, 999_999_999),
    1,
  )
  .option('--json', 'print the summary as one line of JSON')
  .addHelpText(
    'after',
    `
Unless --continue is given, all lines are checked first; if one is invalid, it is reported with its number and nothing is
changed. Importing a file again is safe: existing objects that do not differ are left alone. The server can keep running. If
the folder of --data is missing or empty, a new store is created in it.

Examples:
  strand import --dry-run world.ndjson
  strand import world.ndjson
  strand import --data restored world.ndjson
  gunzip < world.ndjson.gz | strand import -
  strand import --url http://localhost:8080 --token-file operator-token demo.ndjson`,
  )
  .action(runImport)

type Result = ImportSummary & { readonly skipped_lines: readonly SkippedLine[] }

async function runImport(file: string, flags: ImportFlags): Promise<void> {
  const { continue: continues = false, dryRun = false, fromLine } = flags
  const options = { continues, dryRun, fromLine }
  const server = requestedServer(flags)
  const result = await (server === undefined
    ? importLocally(file, options, flags)
    : importRemotely(file, options, server))
  await printResult(flags, result, describeSummary(result))
  if (result.skipped > 0) throw new OperatorError(`skipped ${counted(result.skipped, 'invalid line')}`)
}

async function importLocally(file: string, options: ImportOptions, flags: ImportFlags): Promise<Result> {
  const config = options.dryRun ? settingsOfExistingStore(flags) : settingsOfNamedStore(flags)
  const { spoolFolder } = config
  if (spoolFolder === config.dataFolder) prepareDataFolder(config)
  try {
    await using cleanup = new AsyncDisposableStack()
    const input = cleanup.adopt(await openInput(file, spoolFolder), opened => opened.close())
    const isAlone = !options.dryRun && isStoreUnused(config)
    const { services } = cleanup.adopt(await openApp(config), app => app.close())
    const store = services.store.as(commandLine('ImportLines'))
    const running = new Import(input, options, { ...services, store, isAlone })
    return await follow(file, options, running.run(), () => running.stop(), running)
  } catch (error) {
    if (error instanceof SpoolError)
      throw new OperatorError(
        `not enough space in ${spoolFolder} for the input (${error.message}): set STRAND_SPOOL to a folder with more`,
      )
    if (!(error instanceof WrongLine)) throw describeFailure(error)
    const name = file === '-' ? 'standard input' : file
    const state = error.isApplied ? 'the lines before it were imported' : 'nothing was changed'
    throw new OperatorError(`${name}, ${error.message}; ${state}`)
  }
}

async function importRemotely(file: string, options: ImportOptions, server: Server): Promise<Result> {
  const { continues, dryRun, fromLine } = options
  const query = `continue=${continues}&dry_run=${dryRun}&from_line=${fromLine}`
  await using cleanup = new AsyncDisposableStack()
  const input = cleanup.adopt(await openInput(file), opened => opened.close())
  const abort = new AbortController()
  const init = { method: 'POST', body: sent(input), duplex: 'half', signal: abort.signal }
  const response = callControl(server, `/import?${query}`, init as unknown as RequestInit)
  return await follow(file, options, eventsOf(response), () => abort.abort())
}

/** The input, with progress while it is sent. */
async function* sent(input: Rereadable): AsyncGenerator<Uint8Array> {
  const progress = new ByteProgress('Sending')
  let bytes = 0
  for await (const piece of input.read()) {
    yield piece
    bytes += piece.length
    progress.reach(bytes, input.size)
  }
  progress.end()
}

/** The events that the server sends. Throws a failure among them. */
async function* eventsOf(response: Promise<Response>): AsyncGenerator<ImportEvent> {
  for await (const lines of linesOf((await response).body ?? new Blob().stream())) {
    for (const { text = '{}' } of lines) {
      const event = JSON.parse(text) as ImportEvent
      if ('failure' in event) throw new OperatorError(`the server reported: ${event.failure.message}`)
      yield event
    }
  }
}

/** Opens a regular file in place. Other input can be read only once, so it is spooled if a folder is given. */
async function openInput(file: string, spoolFolder?: string): Promise<Rereadable> {
  try {
    if (file !== '-' && statSync(file).isDirectory()) throw new Error('it is a folder')
    if (file !== '-' && statSync(file).isFile()) return await openFile(file)
  } catch (error) {
    throw new OperatorError(`cannot read ${file}: ${(error as Error).message}`)
  }
  const pieces = file === '-' ? Bun.stdin.stream() : comingFrom(file)
  if (spoolFolder !== undefined) return spool(pieces, spoolFolder)
  return { size: undefined, read: () => pieces, close: async () => undefined }
}

/**
 * Shows progress on a terminal, prints skipped lines to standard error, and reports how to resume after Ctrl-C. Of an import
 * on a server only the events are known.
 */
async function follow(
  file: string,
  options: ImportOptions,
  events: AsyncIterable<ImportEvent>,
  stop: () => void,
  local?: Import,
): Promise<Result> {
  const skipped_lines: SkippedLine[] = []
  const firstPass = options.dryRun || !options.continues ? 'Checking' : 'Importing'
  let bar: ByteProgress | Progress = new ByteProgress(firstPass)
  let began = performance.now()
  let reported = 0
  let isStopped = false
  const interrupt = () => {
    isStopped = true
    bar.leave()
    stop()
  }
  onStopSignal(interrupt, ['SIGINT'])
  try {
    for await (const event of events) {
      if ('summary' in event) {
        if (isStopped) break
        if (bar instanceof Progress) bar.reach(event.summary.lines)
        bar.end()
        return { ...event.summary, skipped_lines }
      }
      if ('skipped' in event) {
        process.stderr.write(`line ${event.skipped.line}: ${event.skipped.message}; skipped\n`)
        if (skipped_lines.length < MAX_SKIPPED_KEPT) skipped_lines.push(event.skipped)
      } else if ('progress' in event) {
        const { lines, of: total } = event.progress
        reported = lines
        // The number of lines is known in the second pass, only the size of the file in the first.
        const size = total === undefined ? local?.size : undefined
        if (bar instanceof ByteProgress && local && size !== undefined) bar.reach(local.bytesRead, size)
        else {
          if (bar instanceof ByteProgress || bar.total !== total) {
            bar.end()
            bar = new Progress(total === undefined ? firstPass : 'Importing', { unit: 'lines', total, began })
          }
          bar.reach(lines)
        }
        began = performance.now()
      }
    }
  } catch (error) {
    // On a server it is stopped by closing the connection, which fails.
    if (!isStopped || local !== undefined) throw error
  }
  // Of a file with empty lines the last one is an earlier line, from which to resume is safe.
  const lastLine = options.fromLine - 1 + reported
  const reached = local ?? { isApplying: reported > 0, lastLine, isRemote: true }
  if (isStopped) throw new Interrupted(interruptionMessage(file, options, reached))
  throw new OperatorError('the response of the server is incomplete: run the import again, which is safe')
}

function describeSummary({ types, ...summary }: ImportSummary): string {
  const count = (value: number) => value.toLocaleString('en-US')
  const { dry_run, seconds, lines_per_second } = summary
  const [lines, skipped] = [counted(summary.lines, 'line'), count(summary.skipped)]
  const head = dry_run
    ? `Checked ${lines}, ${skipped} of them invalid; nothing was changed.`
    : `Read ${lines} in ${count(seconds)} s (${count(lines_per_second)} lines/s), ${skipped} skipped.`
  const rows = Object.entries(types)
  const width = widthOfTerminal(process.stdout)
  if (width === undefined || rows.length === 0) {
    const texts = rows.map(
      ([type, { created, changed, unchanged }]) =>
        `  ${type.padEnd(14)}${count(created)} created, ${count(changed)} changed, ${count(unchanged)} unchanged`,
    )
    return [head, ...texts].join('\n')
  }
  const outcomes = ['created', 'changed', 'unchanged'] as const
  const numbers = outcomes.map(outcome => ({ heading: outcome.toUpperCase(), align: 'right' as const }))
  const table = new FittedTable([{ heading: 'TYPE' }, ...numbers], width, paintFor(process.stdout))
  const textCell = (text: string): Cell => [[{ text }]]
  const cells = rows.map(([type, counts]) =>
    [type, ...outcomes.map(each => count(counts[each]))].map(textCell),
  )
  return `${head}\n\n${table.page(cells).trimEnd()}`
}
