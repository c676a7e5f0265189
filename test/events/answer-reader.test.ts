/** Answers of HTTP/1.1, in whatever pieces they arrive. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AnswerReader, MAX_BODY_BYTES, MAX_HEAD_BYTES } from '../../src/events/answer-reader.ts'

const MALFORMED = 'the answer is not valid HTTP'
const HEAD_TOO_LONG = `the head of the answer has more than ${MAX_HEAD_BYTES} bytes`
const BODY_TOO_LONG = `the answer has more than ${MAX_BODY_BYTES} bytes`

/** What is read from an answer that is cut at these places, and the connection then ended or not. */
function read(answer: string, { cuts = [] as readonly number[], ends = false } = {}) {
  const bytes = Buffer.from(answer)
  const reader = new AnswerReader()
  const places = [0, ...[...cuts].sort((a, b) => a - b), bytes.length]
  for (let n = 1; n < places.length; n++) {
    const piece = bytes.subarray(places[n - 1], places[n])
    if (piece.length > 0) reader.push(piece)
  }
  if (ends) reader.end()
  const { status, isComplete, failure, allowsReuse, body } = reader
  return { status, isComplete, failure, allowsReuse, body }
}

const complete = (status: number, body: string, allowsReuse = true) => ({
  status,
  isComplete: true,
  failure: undefined,
  allowsReuse,
  body,
})

const OK = 'HTTP/1.1 200 OK\r\n'
const chunked = (...chunks: string[]) =>
  `${OK}Transfer-Encoding: chunked\r\n\r\n${chunks.map(chunk => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`

describe('an answer', () => {
  const whole: [string, string, ReturnType<typeof complete>][] = [
    ['with a length', `${OK}Content-Length: 3\r\n\r\nä.`, complete(200, 'ä.')],
    ['with a length of nothing', `${OK}content-length:0\r\n\r\n`, complete(200, '')],
    [
      'with the same length twice',
      `${OK}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`,
      complete(200, 'ok'),
    ],
    ['in chunks', chunked('ab', 'ä'), complete(200, 'abä')],
    [
      'in chunks with extensions and trailers',
      `${OK}Transfer-Encoding: Chunked\r\n\r\nA;x="y"\r\n0123456789\r\n00\r\nX-More: 1\r\n\r\n`,
      complete(200, '0123456789'),
    ],
    ['without content', 'HTTP/1.1 204 No Content\r\n\r\n', complete(204, '')],
    [
      'without content, whatever length it names',
      'HTTP/1.1 304 x\r\nContent-Length: 9\r\n\r\n',
      complete(304, ''),
    ],
    ['without a reason', 'HTTP/1.1 204\r\n\r\n', complete(204, '')],
    [
      'after informational ones',
      `HTTP/1.1 100 x\r\n\r\nHTTP/1.1 103 x\r\nLink: y\r\n\r\n${chunked('a')}`,
      complete(200, 'a'),
    ],
    [
      'that closes',
      `${OK}Content-Length: 1\r\nConnection: keep-alive, Close\r\n\r\na`,
      complete(200, 'a', false),
    ],
    ['of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na', complete(200, 'a', false)],
    ['that switches protocols', 'HTTP/1.1 101 x\r\n\r\n', complete(101, '', false)],
    ['followed by bytes', `${OK}Content-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\n`, complete(200, 'a', false)],
    ['followed by bytes after chunks', `${chunked('a')}\r\n`, complete(200, 'a', false)],
  ]
  for (const [title, answer, expected] of whole)
    test(`${title} is read, wherever it is cut`, () => {
      expect(read(answer)).toEqual(expected)
      const bytes = Buffer.byteLength(answer)
      const cuts = fc.array(fc.integer({ min: 0, max: bytes }), { maxLength: 8 })
      fc.assert(fc.property(cuts, places => expect(read(answer, { cuts: places })).toEqual(expected)))
      const eachByte = Array.from({ length: bytes }, (_, n) => n)
      expect(read(answer, { cuts: eachByte })).toEqual(expected)
    })

  test('without a length ends with the connection', () => {
    const answer = `${OK}\r\nsome text`
    expect(read(answer).isComplete).toBe(false)
    expect(read(answer, { ends: true })).toEqual(complete(200, 'some text', false))
    const coded = `${OK}Transfer-Encoding: gzip\r\n\r\nx`
    expect(read(coded, { ends: true })).toEqual(complete(200, 'x', false))
  })

  test('that is cut off is not complete', () => {
    for (const answer of [`${OK}Content-Length: 3\r\n\r\nab`, chunked('abc').slice(0, -2)])
      expect(read(answer, { ends: true })).toMatchObject({
        status: 200,
        isComplete: false,
        allowsReuse: false,
      })
    expect(read(`${OK}Content-`, { ends: true })).toMatchObject({ status: undefined, failure: MALFORMED })
  })
})

describe('a malformed answer', () => {
  const malformed: [string, string][] = [
    ['another protocol', '220 smtp ready\r\n'],
    ['HTTP/2', 'HTTP/2 200\r\n\r\n'],
    ['a version that does not exist', 'HTTP/1.2 200 OK\r\n\r\n'],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n'],
    ['length and chunks', `${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['two lengths', `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`],
    ['a list of lengths', `${OK}Content-Length: 1, 1\r\n\r\na`],
    ['a negative length', `${OK}Content-Length: -1\r\n\r\n`],
    ['a length with a sign', `${OK}Content-Length: +1\r\n\r\na`],
    ['a hexadecimal length', `${OK}Content-Length: 0x1\r\n\r\na`],
    ['a length without digits', `${OK}Content-Length:\r\n\r\n`],
    ['two encodings', `${OK}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
    ['a header on two lines', `${OK}X: a\r\n b\r\n\r\n`],
    ['a space before the colon', `${OK}Content-Length : 1\r\n\r\na`],
    ['a header without a name', `${OK}: a\r\n\r\n`],
    ['a header without a colon', `${OK}Content-Length\r\n\r\n`],
    ['a line break of one character', `${OK}X: a\nContent-Length: 1\r\n\r\na`],
    ['a carriage return alone', `${OK}X: a\rContent-Length: 1\r\n\r\na`],
    ['a chunk without a size', `${OK}Transfer-Encoding: chunked\r\n\r\n\r\na\r\n`],
    ['a chunk size that is no number', `${OK}Transfer-Encoding: chunked\r\n\r\n1g\r\na\r\n`],
    ['a negative chunk size', `${OK}Transfer-Encoding: chunked\r\n\r\n-1\r\na\r\n`],
    ['a chunk size beyond all numbers', `${OK}Transfer-Encoding: chunked\r\n\r\n${'f'.repeat(40)}\r\n`],
    ['a chunk that is longer than its size', `${OK}Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n`],
  ]
  for (const [title, answer] of malformed)
    test(`is ${title}, wherever it is cut`, () => {
      const cuts = fc.array(fc.integer({ min: 0, max: answer.length }), { maxLength: 8 })
      fc.assert(
        fc.property(cuts, places =>
          expect(read(answer, { cuts: places })).toMatchObject({ failure: MALFORMED, allowsReuse: false }),
        ),
      )
    })

  test('of any bytes does not throw, and is never complete twice', () => {
    const bytes = fc.oneof(
      fc.string(),
      fc.constantFrom(OK, '\r\n', '\r\n\r\n', 'Content-Length: ', '1', 'chunked'),
    )
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 30 }), pieces => {
        const { isComplete, failure } = read(pieces.join(''))
        expect(isComplete && failure !== undefined).toBe(false)
      }),
    )
  })
})

describe('bounds', () => {
  const headOf = (bytes: number) => `${OK}X: ${'a'.repeat(bytes - OK.length - 3)}`
  const withBody = (bytes: number) => `${OK}Content-Length: ${bytes}\r\n\r\n${'a'.repeat(bytes)}`

  test('a head may have 16 KiB', () => {
    const longest = `${headOf(MAX_HEAD_BYTES - 19)}\r\nContent-Length: 0\r\n\r\n`
    expect(longest.indexOf('\r\n\r\n')).toBe(MAX_HEAD_BYTES)
    const tooLong = longest.replace('X: ', 'X: a')
    for (const cuts of [[], [MAX_HEAD_BYTES], [MAX_HEAD_BYTES + 3], [100, 16_000]]) {
      expect(read(longest, { cuts })).toMatchObject({ isComplete: true })
      expect(read(tooLong, { cuts })).toMatchObject({ isComplete: false, failure: HEAD_TOO_LONG })
    }
    expect(read(headOf(MAX_HEAD_BYTES + 4))).toMatchObject({ failure: HEAD_TOO_LONG })
  })

  test('a body may have 8 KiB, with its chunks', () => {
    for (const cuts of [[], [8000], [8190, 8230]]) {
      expect(read(withBody(MAX_BODY_BYTES), { cuts })).toMatchObject({ isComplete: true })
      expect(read(withBody(MAX_BODY_BYTES + 1), { cuts })).toMatchObject({ failure: BODY_TOO_LONG })
      expect(read(chunked('a'.repeat(8179)), { cuts })).toMatchObject({ isComplete: true })
      expect(read(chunked('a'.repeat(8180)), { cuts })).toMatchObject({ failure: BODY_TOO_LONG })
    }
    const endless = `${OK}Transfer-Encoding: chunked\r\n\r\nfffffff\r\n`
    expect(read(endless + 'a'.repeat(MAX_BODY_BYTES))).toMatchObject({ failure: BODY_TOO_LONG })
  })

  test('ten informational answers are read, and no more', () => {
    const informational = 'HTTP/1.1 100 Continue\r\n\r\n'
    expect(read(informational.repeat(10) + withBody(1))).toMatchObject({ status: 200, isComplete: true })
    expect(read(informational.repeat(11) + withBody(1))).toMatchObject({
      status: undefined,
      failure: 'too many informational answers',
    })
  })
})
