import type { StreamedLines } from '../../operations/implement.ts'

/**
 * A streamed response body. Each piece is produced when the previous one was consumed, so a slow reader keeps one piece in
 * memory instead of the whole body. Production ends if the reader disconnects or the server stops.
 */
export function toByteStream(
  { pieces, close }: StreamedLines,
  onFailure: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  let isCancelled = false
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { done, value } = await pieces.next()
          // If the reader disconnected in the meantime, `cancel` closes the source.
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
