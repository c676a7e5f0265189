/**
 * The bare broadcast: what the runtime needs to send the same bytes to as many viewers, with nothing else. `Bun.serve`, one
 * stream per viewer, one buffer for all of them every 20 ms; no publisher, no skipping of slow viewers. Prints its port.
 */
import { BATCH_MILLISECONDS } from '../../src/media/broadcast.ts'
import { FLV_HEADER, flvTag } from '../../src/media/flv.ts'
import { SyntheticBroadcast } from '../media/synthetic.ts'

const [bitsPerSecond] = process.argv.slice(2)
const broadcast = new SyntheticBroadcast(Number(bitsPerSecond))
const viewers = new Set<ReadableStreamDirectController>()
const began = performance.now()

const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: () => {
    let viewer: ReadableStreamDirectController | undefined
    const source: Bun.DirectUnderlyingSource<Uint8Array> = {
      type: 'direct',
      pull: connection => {
        viewer = connection
        connection.write(FLV_HEADER)
        viewers.add(connection)
        return new Promise(() => undefined)
      },
      cancel: () => {
        if (viewer !== undefined) viewers.delete(viewer)
      },
    }
    const stream = new ReadableStream(source as unknown as UnderlyingSource<Uint8Array>)
    return new Response(stream)
  },
})

setInterval(() => {
  const passed = performance.now() - began
  const tags: Buffer[] = []
  for (let message = broadcast.take(passed); message !== undefined; message = broadcast.take(passed))
    tags.push(flvTag(message))
  if (tags.length === 0) return
  const bytes = Buffer.concat(tags)
  for (const viewer of viewers) {
    viewer.write(bytes)
    viewer.flush()
  }
}, BATCH_MILLISECONDS)

console.log(server.port)
