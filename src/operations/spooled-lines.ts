import { isRefusal, type Refusal, refuse } from '../contract/problem.ts'
import { append, openAnonymousFile, piecesOf, SpoolError } from '../transfer/spool.ts'
import { type Services, StreamedLines } from './implement.ts'

type SpoolServices = Pick<Services, 'log' | 'spoolFolder'>

/**
 * A response with the lines that `write` appends. They are spooled to disk and sent from there, so that a snapshot of the store
 * is held only while they are written, however slowly the client reads.
 */
export async function spooledLines(
  services: SpoolServices,
  write: (append: (text: string) => Promise<void>) => Promise<unknown>,
): Promise<StreamedLines | Refusal<'no_room'>> {
  const onSpoolError = refuseSpoolError(services)
  const file = await openAnonymousFile(services.spoolFolder).catch(onSpoolError)
  if (isRefusal(file)) return file
  try {
    await write(text => append(file, text))
  } catch (error) {
    await file.close()
    return onSpoolError(error)
  }
  return new StreamedLines(piecesOf(file), () => file.close())
}

/** The refusal for a spool error; other errors are thrown again. */
export const refuseSpoolError =
  ({ log, spoolFolder }: SpoolServices) =>
  (error: unknown): Refusal<'no_room'> => {
    if (!(error instanceof SpoolError)) throw error
    log.warn({ folder: spoolFolder, reason: error.message }, 'could not write to the spool folder')
    return refuse('no_room', error.message)
  }
