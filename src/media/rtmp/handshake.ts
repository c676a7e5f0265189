/** The simple handshake of RTMP: each side sends a version and 1536 bytes, and returns those of the other. */
import { ProtocolError } from './protocol-error.ts'

const VERSION = 3
const BLOCK = 1536

/** Answers the handshake of a client; `rest` is what follows it. */
export class Handshake {
  readonly #random: Uint8Array
  readonly #block = Buffer.alloc(BLOCK)
  #received = 0

  /** @param random 1528 bytes */
  constructor(random: Uint8Array) {
    this.#random = random
  }

  /** What to send now, and once the handshake is complete, the bytes after it. */
  push(bytes: Uint8Array): { readonly reply?: Buffer; readonly rest?: Uint8Array } {
    const before = this.#received
    if (before === 0 && bytes.length > 0 && bytes[0] !== VERSION)
      throw new ProtocolError('unsupported RTMP version')
    this.#received += bytes.length
    const reply = before > BLOCK ? {} : this.#takeFirst(bytes, before)
    const end = 1 + 2 * BLOCK
    return this.#received < end ? reply : { ...reply, rest: bytes.subarray(Math.max(0, end - before)) }
  }

  /** Of both blocks only the first is returned. It begins after the version. */
  #takeFirst(bytes: Uint8Array, before: number): { readonly reply?: Buffer } {
    const from = before === 0 ? 1 : 0
    this.#block.set(bytes.subarray(from, 1 + BLOCK - before), before - 1 + from)
    return this.#received > BLOCK ? { reply: this.#answer(this.#block) } : {}
  }

  #answer(block: Uint8Array): Buffer {
    const reply = Buffer.alloc(1 + 2 * BLOCK)
    reply.writeUInt8(VERSION, 0)
    reply.set(this.#random, 9)
    reply.set(block, 1 + BLOCK)
    return reply
  }
}
