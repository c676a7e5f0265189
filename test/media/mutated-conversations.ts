/** Mutated conversations with a publisher without a socket. The default tier runs fewer of them than the full one. */
import { expect } from 'bun:test'
import { SeededRandom } from '../../src/kit/random.ts'
import { Packager } from '../../src/media/hls/packager.ts'
import { MediaMemory } from '../../src/media/media-memory.ts'
import { readPacket } from '../../src/media/packet.ts'
import { ProtocolError } from '../../src/media/rtmp/protocol-error.ts'
import { Publisher } from '../../src/media/rtmp/publisher.ts'
import { mutatedConversation, split } from '../support/media/rtmp-mutations.ts'

const RANDOM_BYTES = new Uint8Array(1528)
/** Of a conversation of about 15 KB, which takes a millisecond; a busy machine may pause it. */
const MAX_MILLISECONDS = 5000
/** What replies may be: two handshake blocks, and a status for each command. */
const MAX_REPLY_BYTES = 20_000
const MAX_GROWTH_BYTES = 64 * 1024 * 1024

interface Tally {
  refused: number
  published: number
  media: number
}

/** One conversation; throws what is not a protocol error. */
function converse(seed: number, tally: Tally): void {
  const random = new SeededRandom(seed)
  const memory = new MediaMemory(64 * 1024 * 1024)
  const packager = new Packager({ memory, onTooLarge: () => undefined })
  packager.attach({ part: () => undefined, segmentEnded: () => undefined })
  let replied = 0
  const publisher: Publisher = new Publisher(
    {
      send: bytes => {
        replied += bytes.length
      },
      publish: () => {
        tally.published += 1
        if (random.next() < 0.9) publisher.accept()
        else publisher.refuse()
      },
      media: message => {
        tally.media += 1
        const packet = readPacket(message)
        if (packet !== undefined) packager.publish(packet)
      },
      stop: () => undefined,
    },
    RANDOM_BYTES,
  )
  try {
    for (const piece of split(mutatedConversation(random), random)) publisher.receive(piece)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    tally.refused += 1
  } finally {
    packager.close()
  }
  if (memory.used !== 0) throw new Error(`${memory.used} bytes are still counted`)
  if (replied > MAX_REPLY_BYTES) throw new Error(`${replied} bytes of replies`)
}

/** What is in use after a collection. */
export function heapBytes(): number {
  Bun.gc(true)
  return process.memoryUsage().heapUsed + process.memoryUsage().external
}

/** Fails with the seed of the conversation that does not behave. */
export function expectToSurvive(count: number, firstSeed: number): void {
  const tally: Tally = { refused: 0, published: 0, media: 0 }
  const run = (seed: number) => {
    const began = performance.now()
    try {
      converse(seed, tally)
    } catch (error) {
      throw new Error(`conversation with seed ${seed}: ${error}`, { cause: error })
    }
    const took = performance.now() - began
    if (took > MAX_MILLISECONDS) throw new Error(`conversation with seed ${seed} took ${took} ms`)
  }
  const warm = Math.min(1000, count / 10)
  for (let index = 0; index < warm; index++) run(firstSeed + index)
  const before = heapBytes()
  for (let index = warm; index < count; index++) run(firstSeed + index)
  expect(heapBytes() - before).toBeLessThan(MAX_GROWTH_BYTES)
  // Mutations that are refused at once would test nothing else.
  expect(tally.refused).toBeGreaterThan(count / 10)
  expect(tally.published).toBeGreaterThan(count / 10)
  expect(tally.media).toBeGreaterThan(count)
}
