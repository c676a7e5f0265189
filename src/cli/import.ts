import { statSync } from 'node:fs'
import { Command } from 'commander'
import { StreamKeys } from '../auth/stream-keys.ts'
import { prepareDataFolder } from '../data-folder.ts'
import { systemClock } from '../kit/clock.ts'
import { OperatorError } from '../kit/operator-error.ts'
import { openStoreWithKeys } from '../open-store.ts'
import { describeFailure } from '../transfer/describe-failure.ts'
import {
  Import,
  type ImportNews,
  type ImportOptions,
  type ImportSummary,
  WrongLine,
} from '../transfer/import.ts'
import { linesOf } from '../transfer/lines.ts'
import { comingFrom, openFile, type Rereadable, SpoolError, spool } from '../transfer/spool.ts'
import { ByteProgress } from './byte-progress.ts'
import { commandLine } from './command-line.ts'
import { print } from './print.ts'
import { Progress } from './progress.ts'
import { callControl } from './remote.ts'
import { settingsOfExistingStore, settingsOfNamedStore } from './store-flags.ts'
import { UsageError } from './usage-error.ts'
import { type Server, serverOf, type TargetFlags, targetFlags } from './verbs/target.ts'

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
  const options = optionsOf(flags)
  const server = serverOf(flags)
  const skipped = new SkippedLines()
  const summary =
    server === undefined
      ? await importHere(file, flags, options, skipped)
      : await importThere(file, server, options, skipped)
  const inJson = { ...summary, skipped_lines: skipped.kept }
  await print(flags.json ? `${JSON.stringify(inJson)}\n` : inWords(summary))
  if (summary.skipped > 0)
    throw new OperatorError(
      `${summary.skipped === 1 ? '1 line was' : `${summary.skipped} lines were`} left out; each is told above`,
    )
}

function optionsOf(flags: ImportFlags): ImportOptions {
  if (!/^[1-9][0-9]{0,8}$/.test(flags.fromLine)) {
    throw new UsageError(`--from-line must be a number from 1, not "${flags.fromLine}"`)
  }
  return { goesOn: flags.continue, dryRun: flags.dryRun, fromLine: Number(flags.fromLine) }
}

async function importHere(
  file: string,
  flags: ImportFlags,
  options: ImportOptions,
  skipped: SkippedLines,
): Promise<ImportSummary> {
  const config = flags.dryRun ? settingsOfExistingStore(flags) : settingsOfNamedStore(flags)
  const input = await openInput(file, () => {
    if (config.spoolFolder === config.dataFolder) prepareDataFolder(config)
    return config.spoolFolder
  })
  const { store, folder } = await openStoreWithKeys(config)
  try {
    const running = new Import(input, options, {
      store: store.as(commandLine('ImportLines')),
      streamKeys: new StreamKeys(folder.ring),
      clock: systemClock,
    })
    if (options.dryRun || !options.goesOn) await show('checking', running.check(), input.size, skipped)
    if (!options.dryRun) await show('importing', running.apply(), input.size, skipped)
    return running.summary()
  } catch (error) {
    if (error instanceof SpoolError)
      throw new OperatorError(
        `${config.spoolFolder} has no room for the input (${error.message}): set STRAND_SPOOL to a folder with more`,
      )
    throw error instanceof WrongLine ? wrongLine(file, error) : describeFailure(error)
  } finally {
    await store.close()
    await input.close()
  }
}

function wrongLine(file: string, { line, why, isApplied }: WrongLine): OperatorError {
  const source = file === '-' ? 'standard input' : file
  const state = isApplied ? 'the lines before it were imported' : 'nothing was changed'
  return new OperatorError(`${source}, line ${line}: ${why}; ${state}`)
}

/** A file is read where it is; what can be read only once is kept for the second reading. */
async function openInput(file: string, spoolFolder: () => string): Promise<Rereadable> {
  if (file === '-') return spool(Bun.stdin.stream(), spoolFolder())
  try {
    const what = statSync(file)
    if (what.isDirectory()) throw new Error('it is a folder')
    return what.isFile() ? await openFile(file) : await spool(comingFrom(file), spoolFolder())
  } catch (error) {
    throw new OperatorError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

/** Follows the work on a terminal. Lines that are left out are told wherever standard error goes. */
async function show(
  what: string,
  work: AsyncIterable<ImportNews>,
  size: number | undefined,
  skipped: SkippedLines,
): Promise<void> {
  const began = performance.now()
  const inBytes = new ByteProgress(what)
  let inLines: Progress | undefined
  for await (const news of work) {
    if ('skipped' in news) skipped.report(news.skipped)
    if (!('progress' in news)) continue
    const { lines, bytes, of } = news.progress
    // How many lines there are is known at the second reading; at the first, how large the file is.
    if (of === undefined && size !== undefined) inBytes.reach(bytes, size)
    else {
      inLines ??= new Progress(what, { unit: 'lines', total: of, began })
      inLines.reach(lines)
    }
  }
  inBytes.end()
  inLines?.end()
}

interface SkippedLine {
  readonly line: number
  readonly message: string
}

/** The lines that were left out. Each is told at once; for the summary the first ones are kept. */
class SkippedLines {
  readonly kept: SkippedLine[] = []

  report(skipped: SkippedLine): void {
    process.stderr.write(`line ${skipped.line}: ${skipped.message}; left out\n`)
    if (this.kept.length < MAX_SKIPPED_KEPT) this.kept.push(skipped)
  }
}

async function importThere(
  file: string,
  server: Server,
  { goesOn, dryRun, fromLine }: ImportOptions,
  skipped: SkippedLines,
): Promise<ImportSummary> {
  const query = new URLSearchParams({
    continue: String(goesOn),
    dry_run: String(dryRun),
    from_line: String(fromLine),
  })
  const input = file === '-' ? undefined : await openInput(file, () => '.')
  const size = input?.size
  const sending = new Progress('sending', { unit: 'MB', total: size === undefined ? undefined : size / 1e6 })
  async function* body(): AsyncGenerator<Uint8Array> {
    let sent = 0
    for await (const piece of input?.read() ?? Bun.stdin.stream()) {
      yield piece
      sent += piece.length
      sending.reach(sent / 1e6)
    }
    sending.end()
  }
  try {
    const init = { method: 'POST', body: body() as unknown as ReadableStream, duplex: 'half' }
    const response = await callControl(server, `/import?${query}`, init as RequestInit)
    return await follow(response, skipped)
  } finally {
    await input?.close()
  }
}

interface RemoteNews {
  readonly progress?: { readonly lines: number; readonly of?: number }
  readonly skipped?: { readonly line: number; readonly message: string }
  readonly failure?: { readonly message: string }
  readonly summary?: ImportSummary
}

async function follow(response: Response, skipped: SkippedLines): Promise<ImportSummary> {
  const began = performance.now()
  let progress: Progress | undefined
  for await (const lines of linesOf(response.body ?? new Blob().stream())) {
    for (const { text = '{}' } of lines) {
      const news = JSON.parse(text) as RemoteNews
      if (news.skipped !== undefined) skipped.report(news.skipped)
      if (news.failure !== undefined) throw new OperatorError(`the server says: ${news.failure.message}`)
      if (news.progress !== undefined) {
        progress ??= new Progress('importing', { unit: 'lines', total: news.progress.of, began })
        progress.reach(news.progress.lines)
      }
      if (news.summary === undefined) continue
      progress?.reach(news.summary.lines)
      progress?.end()
      return news.summary
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
