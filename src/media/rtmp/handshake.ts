/** The simple handshake of RTMP: each side sends a version and 1536 bytes, and returns those of the other. */
import { ProtocolError } from './protocol-error.ts'

const VERSION = 3
const BLOCK = 1536

/** Answers the handshake of a client; `rest` is what follows it. */
export class Handshake {
  readonly #random: Uint8Array
  #received: Uint8Array = new Uint8Array(0)
  #isAnswered = false

  /** @param random 1528 bytes */
  constructor(random: Uint8Array) {
    this.#random = random
  }

  /** What to send now, and once the handshake is complete, the bytes after it. */
  push(bytes: Uint8Array): { readonly reply?: Buffer; readonly rest?: Uint8Array } {
    const input = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes])
    this.#received = input
    if (input.length > 0 && input[0] !== VERSION) throw new ProtocolError('unsupported RTMP version')
    if (input.length < 1 + BLOCK) return {}
    const reply = this.#isAnswered ? {} : { reply: this.#answer(input.subarray(1, 1 + BLOCK)) }
    this.#isAnswered = true
    const end = 1 + 2 * BLOCK
    return input.length < end ? reply : { ...reply, rest: input.slice(end) }
  }

  #answer(block: Uint8Array): Buffer {
    const reply = Buffer.alloc(1 + 2 * BLOCK)
    reply.writeUInt8(VERSION, 0)
    reply.set(this.#random, 9)
    reply.set(block, 1 + BLOCK)
    return reply
  }
}
