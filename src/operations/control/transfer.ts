import { exportLines, importLines } from '../../contract/control/transfer.ts'
import { Problem, problem, raise, reasonPhrases, refuse } from '../../contract/problem.ts'
import { Conflict, Unavailable } from '../../store/errors.ts'
import { exportLines as writeLines } from '../../transfer/export.ts'
import { Import, type ImportNews, WrongLine } from '../../transfer/import.ts'
import { openAnonymousFile, piecesOf, SpoolError, spool, writeAll } from '../../transfer/spool.ts'
import { implement, type Services, StreamedLines } from '../implement.ts'

const PROGRESS_MILLISECONDS = 500

/**
 * The lines are put on disk first and sent from there: the view of the store is open for as long as writing them takes,
 * and not as long as somebody takes to read them.
 */
export const handleExportLines = implement(exportLines, async (_call, services) => {
  const file = await openAnonymousFile(services.spoolFolder).catch(noRoom(services))
  try {
    await writeLines(services.store, {}, text => writeAll(file, new TextEncoder().encode(text)))
  } catch (error) {
    await file.close()
    return noRoom(services)(error)
  }
  return new StreamedLines(piecesOf(file), () => file.close())
})

/** Names the problem if it is one of room, and passes anything else on. */
const noRoom =
  ({ log, spoolFolder }: Services) =>
  (error: unknown): never => {
    if (!(error instanceof SpoolError)) throw error
    log.warn({ folder: spoolFolder, reason: error.message }, 'the spool folder does not take the lines')
    return raise('no_room', error.message)
  }

/** As long as the answer has not begun, a wrong line is a 400: everything is checked before, while the body comes in. */
export const handleImportLines = implement(
  importLines,
  async ({ query, bodyPieces, logFields }, services) => {
    const options = {
      goesOn: query.continue === 'true',
      dryRun: query.dry_run === 'true',
      fromLine: query.from_line ?? 1,
    }
    const file = await spool(whole(bodyPieces), services.spoolFolder).catch(noRoom(services))
    const running = new Import(file, options, services)
    try {
      if (options.goesOn) await file.complete()
      else for await (const _ of running.check());
    } catch (error) {
      await file.close()
      if (error instanceof WrongLine) return refuse('wrong_line', error.line, error.why)
      if (error instanceof CutOff)
        return refuse('wrong_line', running.summary().lines + 1, 'the body was cut off here, or soon after')
      return noRoom(services)(error)
    }
    return new StreamedLines(newsOf(running, options, { log: services.log, request: logFields() }), () =>
      file.close(),
    )
  },
)

class CutOff extends Error {}

/** A body whose sender went away in the middle is none at all. */
async function* whole(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces
  } catch (error) {
    throw error instanceof Problem ? error : new CutOff()
  }
}

async function* newsOf(
  running: Import,
  { dryRun, goesOn }: { dryRun: boolean; goesOn: boolean },
  failures: FailureLog,
): AsyncGenerator<Uint8Array> {
  let toldAt = Number.NEGATIVE_INFINITY
  try {
    const steps = dryRun ? (goesOn ? running.check() : []) : running.apply()
    for await (const news of steps) {
      if ('progress' in news && performance.now() - toldAt < PROGRESS_MILLISECONDS) continue
      if ('progress' in news) toldAt = performance.now()
      yield lineOf(news)
    }
    yield lineOf({ summary: running.summary() })
  } catch (error) {
    yield lineOf({ failure: failureOf(error, failures) })
  }
}

/** Where a failure is logged, and as that of which request. */
interface FailureLog {
  readonly log: Services['log']
  readonly request: Readonly<Record<string, string | undefined>>
}

interface Failure {
  readonly error: string
  readonly status: number
  readonly message: string
}

function lineOf(news: ImportNews | { readonly failure: Failure }): Uint8Array {
  const reported = 'progress' in news ? { progress: { ...news.progress, bytes: undefined } } : news
  return new TextEncoder().encode(`${JSON.stringify(reported)}\n`)
}

/** What ended an import that had begun, in the words of a failure. */
function failureOf(thrown: unknown, failures: FailureLog): Failure {
  const { status, message } = asProblem(thrown, failures)
  return { error: reasonPhrases[status] ?? 'Error', status, message }
}

function asProblem(thrown: unknown, { log, request }: FailureLog): { status: number; message: string } {
  const error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  if (thrown instanceof WrongLine) {
    return { status: 400, message: `Line ${thrown.line}: ${thrown.why}. The lines before it were imported.` }
  }
  if (thrown instanceof Unavailable || thrown instanceof Conflict) {
    log.warn({ ...request, reason: thrown.message }, 'an import was ended by the store')
    return problem('unavailable')
  }
  log.error({ ...request, error }, 'an import failed unexpectedly')
  return problem('internal')
}
