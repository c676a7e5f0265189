import { exportLines, type ImportEvent, importLines } from '../../contract/control/transfer.ts'
import { isRefusal, Problem, problem, reasonPhrases, refuse } from '../../contract/problem.ts'
import { Conflict, Unavailable } from '../../store/errors.ts'
import { exportLines as writeLines } from '../../transfer/export.ts'
import { Import, WrongLine } from '../../transfer/import.ts'
import { spool } from '../../transfer/spool.ts'
import { implement, type Services, StreamedLines } from '../implement.ts'
import { refuseSpoolError, spooledLines } from '../spooled-lines.ts'

const PROGRESS_MILLISECONDS = 500
const encoder = new TextEncoder()

export const handleExportLines = implement(exportLines, (_call, services) =>
  spooledLines(services, append => writeLines(services.store, {}, append)),
)

/** All lines are checked before the response starts, so that an invalid one is a 400; with `continue` they are skipped. */
export const handleImportLines = implement(
  importLines,
  async ({ query, bodyPieces, logFields }, { store, streamKeys, clock, log, spoolFolder }) => {
    const onSpoolError = refuseSpoolError({ log, spoolFolder })
    const continues = query.continue === 'true'
    const options = { continues, dryRun: query.dry_run === 'true', fromLine: query.from_line ?? 1 }
    const file = await spool(completeBody(bodyPieces), spoolFolder).catch(onSpoolError)
    if (isRefusal(file)) return file
    const running = new Import(file, options, { store, streamKeys, clock })
    try {
      for await (const _ of continues ? file.read() : running.check());
    } catch (error) {
      await file.close()
      if (error instanceof WrongLine) return refuse('wrong_line', error.line, error.why)
      if (error instanceof BodyTruncated)
        return refuse(
          'wrong_line',
          running.summary().lines + 1,
          'the body is truncated at or soon after this line',
        )
      return onSpoolError(error)
    }
    return new StreamedLines(encodeEvents(running.run(), log, logFields), () => file.close())
  },
)

class BodyTruncated extends Error {}

/** Throws `BodyTruncated` if the client disconnects before the end of the body. */
async function* completeBody(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* pieces
  } catch (error) {
    throw error instanceof Problem ? error : new BodyTruncated()
  }
}

/** The lines of the response to an import. A failure is its last line. */
async function* encodeEvents(
  events: AsyncIterable<ImportEvent>,
  log: Services['log'],
  logFields: Parameters<typeof importFailure>[2],
): AsyncGenerator<Uint8Array> {
  const encodeEvent = (event: ImportEvent) => encoder.encode(`${JSON.stringify(event)}\n`)
  let reportedAt = Number.NEGATIVE_INFINITY
  try {
    for await (const event of events) {
      if ('progress' in event && performance.now() - reportedAt < PROGRESS_MILLISECONDS) continue
      if ('progress' in event) reportedAt = performance.now()
      yield encodeEvent(event)
    }
  } catch (error) {
    const { status, message } = importFailure(error, log, logFields)
    yield encodeEvent({ failure: { error: reasonPhrases[status] ?? 'Error', status, message } })
  }
}

function importFailure(
  thrown: unknown,
  log: Services['log'],
  logFields: () => object,
): Pick<Problem, 'status' | 'message'> {
  if (thrown instanceof WrongLine)
    return { status: 400, message: `Line ${thrown.line}: ${thrown.why}. The lines before it were imported.` }
  if (thrown instanceof Unavailable || thrown instanceof Conflict) {
    log.warn({ ...logFields(), reason: thrown.message }, 'import aborted by the store')
    return problem('unavailable')
  }
  const error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  log.error({ ...logFields(), error }, 'import failed unexpectedly')
  return problem('internal')
}
