/**
 * A program that asks a server for a small answer again and again, and prints for each line that it reads the longest time, in
 * milliseconds, that the main thread of the server worked while an answer was missing. What other programs take from a busy
 * machine is not part of it. Alone in its process, so that nothing but the server delays it.
 */
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'

const port = Number(process.argv[2])
const pid = Number(process.argv[3])
const request = 'GET /live/ HTTP/1.1\r\nHost: localhost\r\n\r\n'
let longest = 0
/** When the answer was asked for; undefined between two requests. */
let began: number | undefined
let workedBefore = 0
let answer = ''

/** Processor time of the main thread since its start, in milliseconds. */
function worked(): number {
  const [nanoseconds = ''] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')
  return Number(nanoseconds) / 1e6
}

function ask(socket: Socket): void {
  workedBefore = worked()
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
  if (began === undefined) return
  longest = Math.max(longest, Math.min(performance.now() - began, worked() - workedBefore))
}

open()
for await (const _ of console) {
  note()
  process.stdout.write(`${longest.toFixed(1)}\n`)
  longest = 0
}
