import { exportLines, type ImportEvent, importLines } from '../../contract/control/transfer.ts'
import { Problem, problem, raise, reasonPhrases, refuse } from '../../contract/problem.ts'
import { Conflict, Unavailable } from '../../store/errors.ts'
import { exportLines as writeLines } from '../../transfer/export.ts'
import { Import, WrongLine } from '../../transfer/import.ts'
import { openAnonymousFile, piecesOf, SpoolError, spool, writeAll } from '../../transfer/spool.ts'
import { implement, type Services, StreamedLines } from '../implement.ts'

const PROGRESS_MILLISECONDS = 500
const encoder = new TextEncoder()

/**
 * The lines are written to disk first and sent from there: the view of the store stays open for as long as that takes, and
 * not as long as a client takes to read them.
 */
export const handleExportLines = implement(exportLines, async (_call, services) => {
  const file = await openAnonymousFile(services.spoolFolder).catch(noRoom(services))
  try {
    await writeLines(services.store, {}, text => writeAll(file, encoder.encode(text)))
  } catch (error) {
    await file.close()
    return noRoom(services)(error)
  }
  return new StreamedLines(piecesOf(file), () => file.close())
})

/** Raises the problem if there is no room in the spool folder, and passes other errors on. */
const noRoom =
  ({ log, spoolFolder }: Services) =>
  (error: unknown): never => {
    if (!(error instanceof SpoolError)) throw error
    log.warn({ folder: spoolFolder, reason: error.message }, 'the spool folder does not take the lines')
    return raise('no_room', error.message)
  }

/** A wrong line is a 400 as long as the answer has not begun: everything is checked before, while the body arrives. */
export const handleImportLines = implement(
  importLines,
  async ({ query, bodyPieces, logFields }, services) => {
    const goesOn = query.continue === 'true'
    const options = { goesOn, dryRun: query.dry_run === 'true', fromLine: query.from_line ?? 1 }
    const file = await spool(whole(bodyPieces), services.spoolFolder).catch(noRoom(services))
    const running = new Import(file, options, services)
    try {
      for await (const _ of goesOn ? file.read() : running.check());
    } catch (error) {
      await file.close()
      if (error instanceof WrongLine) return refuse('wrong_line', error.line, error.why)
      if (error instanceof CutOff)
        return refuse('wrong_line', running.summary().lines + 1, 'the body was cut off here, or soon after')
      return noRoom(services)(error)
    }
    const report = newsOf(running.run(), error => failureOf(error, services.log, logFields()))
    return new StreamedLines(report, () => file.close())
  },
)

class CutOff extends Error {}

/** A body whose sender disconnects before its end is refused as a whole. */
async function* whole(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces
  } catch (error) {
    throw error instanceof Problem ? error : new CutOff()
  }
}

/** The answer of an import; what ends it early is its last line. */
async function* newsOf(
  events: AsyncIterable<ImportEvent>,
  failureOf: (error: unknown) => { readonly status: number; readonly message: string },
): AsyncGenerator<Uint8Array> {
  const lineOf = (event: ImportEvent) => encoder.encode(`${JSON.stringify(event)}\n`)
  let reportedAt = Number.NEGATIVE_INFINITY
  try {
    for await (const event of events) {
      if ('progress' in event && performance.now() - reportedAt < PROGRESS_MILLISECONDS) continue
      if ('progress' in event) reportedAt = performance.now()
      yield lineOf(event)
    }
  } catch (error) {
    const { status, message } = failureOf(error)
    yield lineOf({ failure: { error: reasonPhrases[status] ?? 'Error', status, message } })
  }
}

function failureOf(
  thrown: unknown,
  log: Services['log'],
  request: Readonly<Record<string, string | undefined>>,
): { readonly status: number; readonly message: string } {
  if (thrown instanceof WrongLine)
    return { status: 400, message: `Line ${thrown.line}: ${thrown.why}. The lines before it were imported.` }
  if (thrown instanceof Unavailable || thrown instanceof Conflict) {
    log.warn({ ...request, reason: thrown.message }, 'an import was ended by the store')
    return problem('unavailable')
  }
  const error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  log.error({ ...request, error }, 'an import failed unexpectedly')
  return problem('internal')
}
