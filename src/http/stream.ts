import type { StreamedLines } from '../operations/implement.ts'

/**
 * An answer that is sent piece by piece. A piece is made when the one before has been taken, so that a slow reader holds
 * one piece in memory and not the answer. If the reader goes away, or the server stops, the making is ended.
 */
export function streamOf(
  { pieces, close }: StreamedLines,
  onFailure: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  let isCancelled = false
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next()
          // The reader may have gone away while the piece was made; whoever cancelled has closed it.
          if (isCancelled) return
          if (!done) return controller.enqueue(value)
        } catch (error) {
          if (isCancelled) return
          onFailure(error)
          await close()
          throw error
        }
        controller.close()
        await close()
      },
      async cancel() {
        isCancelled = true
        await pieces.return(undefined)
        await close()
      },
    },
    { highWaterMark: 0 },
  )
}
