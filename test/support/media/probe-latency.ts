/**
 * A program that asks a server for a small answer again and again, and prints the longest time that it waited, in milliseconds,
 * for each line that it reads. Alone in its process, so that nothing but the server delays it.
 */
import { connect, type Socket } from 'node:net'

const port = Number(process.argv[2])
const request = 'GET /live/ HTTP/1.1\r\nHost: localhost\r\n\r\n'
let longest = 0
/** When the answer was asked for; undefined between two requests. */
let began: number | undefined
let answer = ''

function ask(socket: Socket): void {
  began = performance.now()
  answer = ''
  socket.write(request)
}

function open(): void {
  const socket = connect(port, '127.0.0.1', () => ask(socket))
  socket.on('error', () => undefined)
  socket.on('close', () => setTimeout(open, 1))
  socket.on('data', piece => {
    answer += piece.toString('latin1')
    // The body is one JSON object.
    if (!answer.endsWith('}')) return
    note()
    began = undefined
    setTimeout(() => ask(socket), 1)
  })
}

function note(): void {
  if (began !== undefined) longest = Math.max(longest, performance.now() - began)
}

open()
for await (const _ of console) {
  note()
  process.stdout.write(`${longest.toFixed(1)}\n`)
  longest = 0
}
