/**
 * A process that opens connections to a media server and sends nothing, each 40 of them from another address. It sends
 * `open` when all are open, and `closed` when the server has closed them all. It is not the process of the test: what that
 * measures beside them would wait for them.
 */
import { connect, type Socket } from 'node:net'

const [BATCH_SIZE, PER_ADDRESS] = [500, 40]
const [port = 0, count = 0] = process.argv.slice(2).map(Number)

function open(index: number): Promise<Socket> {
  const network = Math.floor(index / PER_ADDRESS)
  const localAddress = `127.5.${network >> 7}.${1 + (network & 127)}`
  const { promise, resolve } = Promise.withResolvers<Socket>()
  const socket = connect({ port, host: '127.0.0.1', localAddress }, () => resolve(socket))
  socket.on('error', () => resolve(socket))
  // Without a reader the end is not seen.
  socket.on('data', () => undefined)
  return promise
}

const sockets: Socket[] = []
while (sockets.length < count) {
  const batch = Array.from({ length: BATCH_SIZE }, (_, index) => open(sockets.length + index))
  sockets.push(...(await Promise.all(batch)))
}
process.send?.('open')
while (sockets.some(({ destroyed }) => !destroyed)) await Bun.sleep(50)
process.send?.('closed')
