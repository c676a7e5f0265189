import { afterAll, describe, expect, test } from 'bun:test'
import { BodyTooLarge, bodyPieces, readBody } from '../../src/kit/read-body.ts'
import { Wire } from '../support/server/wire.ts'

const LIMITS = { bytes: 1000, milliseconds: 10_000 }
const outcomes = new Map<string, string>()
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: async request => {
    const name = request.headers.get('x-request-id') ?? ''
    const isShort = name.startsWith('slow')
    const read = await readBody(request, isShort ? { ...LIMITS, milliseconds: 200 } : LIMITS)
    const outcome = read.outcome === 'complete' ? `complete ${read.bytes.length}` : read.outcome
    outcomes.set(name, outcome)
    return new Response(outcome)
  },
})
afterAll(() => server.stop(true))

const chunk = (size: number) => `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n`

async function outcomeOf(name: string, framing: string, body: string, hangsUp = false): Promise<string> {
  const wire = await Wire.open(`http://127.0.0.1:${server.port}`)
  await wire.send(`POST / HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${name}\r\n${framing}\r\n\r\n${body}`)
  if (hangsUp) wire.close()
  while (!outcomes.has(name)) await Bun.sleep(5)
  wire.close()
  return outcomes.get(name) ?? ''
}

describe('a body', () => {
  const CHUNKED = 'Transfer-Encoding: chunked'
  for (const [name, framing, body, outcome] of [
    ['none', 'X: y', '', 'complete 0'],
    ['announced as empty', 'Content-Length: 0', '', 'complete 0'],
    ['announced', 'Content-Length: 1000', 'x'.repeat(1000), 'complete 1000'],
    ['announced, with more behind it', 'Content-Length: 10', 'x'.repeat(5000), 'complete 10'],
    ['announced as too large', 'Content-Length: 1001', '', 'too_large'],
    ['in chunks', CHUNKED, `${chunk(600)}${chunk(400)}0\r\n\r\n`, 'complete 1000'],
    ['in chunks, without end', CHUNKED, chunk(600) + chunk(401), 'too_large'],
    ['in one chunk that is too large', CHUNKED, chunk(5000), 'too_large'],
    ['slow and announced', 'Content-Length: 10', 'x', 'too_slow'],
    ['slow and in chunks', CHUNKED, chunk(1), 'too_slow'],
  ] as const) {
    test(`${name}: ${outcome}`, async () => {
      expect(await outcomeOf(name, framing, body)).toBe(outcome)
    })
  }

  test('of a sender that goes away: cut_off', async () => {
    expect(await outcomeOf('gone, announced', 'Content-Length: 10', 'x', true)).toBe('cut_off')
    expect(await outcomeOf('gone, in chunks', CHUNKED, chunk(1), true)).toBe('cut_off')
  })

  test('whose announced length is not true, inside this process: too_large', async () => {
    const request = new Request('http://localhost', {
      method: 'POST',
      headers: { 'Content-Length': '10' },
      body: 'x'.repeat(2000),
    })
    expect(await readBody(request, LIMITS)).toEqual({ outcome: 'too_large' })
  })
})

describe('a body in pieces', () => {
  async function lengthOf(request: Request, limit: number): Promise<number> {
    let length = 0
    for await (const piece of bodyPieces(request, limit)) length += piece.length
    return length
  }
  const post = (body: string | ReadableStream | null) =>
    new Request('http://localhost', { method: 'POST', body })

  test('comes whole, up to its limit', async () => {
    expect(await lengthOf(post(null), 10)).toBe(0)
    expect(await lengthOf(post('x'.repeat(10)), 10)).toBe(10)
  })

  test('beyond its limit it ends', async () => {
    let pulled = 0
    const endless = new ReadableStream({
      pull: controller => {
        pulled += 1
        controller.enqueue(new Uint8Array(4))
      },
    })
    await expect(lengthOf(post(endless), 10)).rejects.toBeInstanceOf(BodyTooLarge)
    expect(pulled).toBeLessThan(10)
  })
})
