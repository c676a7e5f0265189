import { statSync } from 'node:fs'
import { Command } from 'commander'
import type { ImportEvent } from '../contract/control/transfer.ts'
import { prepareDataFolder } from '../data-folder.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { isStoreUnused } from '../open-store.ts'
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
import { ImportInterruption } from './import-interruption.ts'
import { callControl } from './remote.ts'
import { settingsOfExistingStore, settingsOfNamedStore } from './store-flags.ts'
import { ByteProgress } from './terminal/byte-progress.ts'
import { paintFor } from './terminal/colour.ts'
import { wholeNumber } from './terminal/flag-values.ts'
import { counted, printResult } from './terminal/print.ts'
import { Progress } from './terminal/progress.ts'
import { type Cell, FittedTable } from './terminal/table.ts'
import { widthOfTerminal } from './terminal/width.ts'
import { openAppOf, type Server, serverOf, type TargetFlags, targetFlags } from './verbs/target.ts'

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

async function runImport(file: string, flags: ImportFlags): Promise<void> {
  const { continue: continues = false, dryRun = false, fromLine } = flags
  const options = { continues, dryRun, fromLine }
  const server = serverOf(flags)
  const { summary, skipped_lines } =
    server === undefined
      ? await importLocally(file, flags, options)
      : await importRemotely(file, server, options)
  await printResult(flags, { ...summary, skipped_lines }, describeSummary(summary))
  if (summary.skipped > 0) throw new OperatorError(`skipped ${counted(summary.skipped, 'invalid line')}`)
}

async function importLocally(file: string, flags: ImportFlags, options: ImportOptions): Promise<Outcome> {
  const config = flags.dryRun ? settingsOfExistingStore(flags) : settingsOfNamedStore(flags)
  if (config.spoolFolder === config.dataFolder) prepareDataFolder(config)
  let input: Rereadable | undefined
  try {
    input = await openInput(file, config.spoolFolder)
    const isAlone = !flags.dryRun && isStoreUnused(config)
    const app = await openAppOf(config)
    try {
      const store = app.services.store.as(commandLine('ImportLines'))
      const running = new Import(input, options, { ...app.services, store, isAlone })
      const { size } = input
      const interruption = new ImportInterruption(file, options, () => running.stop())
      const outcome = await follow(running.run(), options, interruption, {
        size,
        bytesRead: () => running.bytesRead,
      })
      interruption.throwIfStopped({ isApplying: running.isApplying, lastLine: running.lastLine })
      return outcome
    } finally {
      await app.close()
    }
  } catch (error) {
    if (error instanceof SpoolError)
      throw new OperatorError(
        `not enough space in ${config.spoolFolder} for the input (${error.message}): set STRAND_SPOOL to a folder with more`,
      )
    if (!(error instanceof WrongLine)) throw describeFailure(error)
    const name = file === '-' ? 'standard input' : file
    const state = error.isApplied ? 'the lines before it were imported' : 'nothing was changed'
    throw new OperatorError(`${name}, ${error.message}; ${state}`)
  } finally {
    await input?.close()
  }
}

async function importRemotely(file: string, server: Server, options: ImportOptions): Promise<Outcome> {
  const query = new URLSearchParams({
    continue: String(options.continues),
    dry_run: String(options.dryRun),
    from_line: String(options.fromLine),
  })
  const input = await openInput(file)
  const total = input.size === undefined ? undefined : input.size / 1e6
  const sending = new Progress('Sending', { unit: 'MB', total })
  async function* body(): AsyncGenerator<Uint8Array> {
    let sent = 0
    for await (const piece of input.read()) {
      yield piece
      sent += piece.length
      sending.reach(sent / 1e6)
    }
    sending.end()
  }
  const abort = new AbortController()
  const interruption = new ImportInterruption(file, options, () => abort.abort())
  let lastLine: number | undefined
  async function* counting(events: AsyncIterable<ImportEvent>): AsyncGenerator<ImportEvent> {
    for await (const event of events) {
      // Of a file with empty lines this is an earlier line, from which to resume is safe.
      if ('progress' in event) lastLine = options.fromLine - 1 + event.progress.lines
      yield event
    }
  }
  try {
    const init = {
      method: 'POST',
      body: body() as unknown as ReadableStream,
      duplex: 'half',
      signal: abort.signal,
    }
    const response = await callControl(server, `/import?${query}`, init as RequestInit)
    return await follow(counting(eventsIn(response)), options, interruption)
  } catch (error) {
    interruption.throwIfStopped({
      isApplying: lastLine !== undefined,
      lastLine: lastLine ?? 0,
      isRemote: true,
    })
    throw error
  } finally {
    await input.close()
  }
}

/** The events that the server sends. Throws a failure among them. */
async function* eventsIn(response: Response): AsyncGenerator<ImportEvent> {
  for await (const lines of linesOf(response.body ?? new Blob().stream())) {
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

interface Outcome {
  readonly summary: ImportSummary
  readonly skipped_lines: readonly SkippedLine[]
}

/** Shows progress on a terminal and prints skipped lines to standard error. */
async function follow(
  events: AsyncIterable<ImportEvent>,
  { dryRun, continues }: ImportOptions,
  interruption: ImportInterruption,
  file?: { readonly size: number | undefined; bytesRead(): number },
): Promise<Outcome> {
  const skipped_lines: SkippedLine[] = []
  const firstPass = dryRun || !continues ? 'Checking' : 'Importing'
  let bar: ByteProgress | Progress = new ByteProgress(firstPass)
  let began = performance.now()
  interruption.onStop(() => bar.leave())
  for await (const event of events) {
    if ('summary' in event) {
      if (interruption.isStopped) return { summary: event.summary, skipped_lines }
      if (bar instanceof Progress) bar.reach(event.summary.lines)
      bar.end()
      return { summary: event.summary, skipped_lines }
    }
    if ('skipped' in event) {
      process.stderr.write(`line ${event.skipped.line}: ${event.skipped.message}; skipped\n`)
      if (skipped_lines.length < MAX_SKIPPED_KEPT) skipped_lines.push(event.skipped)
    } else if ('progress' in event) {
      const { lines, of: total } = event.progress
      // The number of lines is known in the second pass, only the size of the file in the first.
      const size = total === undefined ? file?.size : undefined
      if (bar instanceof ByteProgress && file && size !== undefined) bar.reach(file.bytesRead(), size)
      else if (bar instanceof Progress && bar.total === total) bar.reach(lines)
      else {
        bar.end()
        bar = new Progress(total === undefined ? firstPass : 'Importing', { unit: 'lines', total, began })
        bar.reach(lines)
      }
      began = performance.now()
    }
  }
  throw new OperatorError('the response of the server is incomplete: run the import again, which is safe')
}

function describeSummary({
  lines,
  skipped,
  types,
  dry_run,
  seconds,
  lines_per_second,
}: ImportSummary): string {
  const count = (value: number) => value.toLocaleString('en-US')
  const head = dry_run
    ? `Checked ${counted(lines, 'line')}, ${count(skipped)} of them invalid; nothing was changed.`
    : `Read ${counted(lines, 'line')} in ${count(seconds)} s (${count(lines_per_second)} lines/s), ${count(skipped)} skipped.`
  const width = widthOfTerminal(process.stdout)
  if (width !== undefined && Object.keys(types).length > 0)
    return `${head}\n\n${tableOf(types, width).trimEnd()}`
  const rows = Object.entries(types).map(
    ([type, { created, changed, unchanged }]) =>
      `  ${type.padEnd(14)}${count(created)} created, ${count(changed)} changed, ${count(unchanged)} unchanged`,
  )
  return [head, ...rows].join('\n')
}

function tableOf(types: ImportSummary['types'], width: number): string {
  const outcomes = ['created', 'changed', 'unchanged'] as const
  const numbers = outcomes.map(outcome => ({ heading: outcome.toUpperCase(), align: 'right' as const }))
  const table = new FittedTable([{ heading: 'TYPE' }, ...numbers], width, paintFor(process.stdout))
  return table.page(
    Object.entries(types).map(([type, counts]) => [
      [[{ text: type }]],
      ...outcomes.map((outcome): Cell => [[{ text: counts[outcome].toLocaleString('en-US') }]]),
    ]),
  )
}
