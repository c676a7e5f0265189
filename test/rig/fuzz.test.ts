import { describe, expect, test } from 'bun:test'
import { violationsOf } from '../../rig/fuzz/check-answer.ts'
import { readAnswer } from '../../rig/fuzz/connection.ts'
import {
  type ApiDocument,
  type DescribedOperation,
  operationsOf,
  type Schema,
} from '../../rig/fuzz/document.ts'
import { Known } from '../../rig/fuzz/known.ts'
import { PLANTED } from '../../rig/fuzz/planted.ts'
import { bytesOf, curlOf, type FuzzRequest } from '../../rig/fuzz/request.ts'
import { makeRequest } from '../../rig/fuzz/requests.ts'
import { violationsAbout } from '../../rig/fuzz/schema-check.ts'
import { openapiDocument } from '../../src/contract/reference/openapi.ts'
import { SeededRandom } from '../../src/kit/random.ts'
import { startStrand } from '../../src/testing/start-strand.ts'

const document = openapiDocument({ version: '1', serverUrl: 'http://localhost' }) as unknown as ApiDocument
const operations = operationsOf(document)
const named = document.components.schemas
const operation = (id: string) => operations.find(each => each.operationId === id) as DescribedOperation

const ALWAYS = {
  date: 'Sun, 01 Mar 2026 12:00:00 GMT',
  'x-request-id': 'x',
  'cache-control': 'no-store',
}

function answer(status: number, body: unknown, more: Record<string, string> = {}) {
  const failure = status < 400 ? {} : { 'strand-error': 'x' }
  const headers = { 'content-type': 'application/json', ...ALWAYS, ...failure, ...more }
  return { status, headers: new Map(Object.entries(headers)), body: Buffer.from(JSON.stringify(body)) }
}

const plain: FuzzRequest = {
  operationId: 'GetUser',
  method: 'GET',
  target: '/control/users/1',
  headers: [['Authorization', 'Bearer some-token-of-an-operator']],
  isBroken: false,
}
const user = {
  id: '141981764',
  login: 'lunar_otter',
  display_name: 'Lunar_Otter',
  description: '',
  links: [],
  broadcaster_type: '',
  email: null,
  created_at: '2026-02-01T09:30:00.000Z',
  suspended_at: null,
  suspension_reason: '',
}
const held = (given: ReturnType<typeof answer> | 'hung up' | 'no answer', request = plain) =>
  violationsOf({ operation: operation('GetUser'), request, answer: given }, named)

const listOfText: Schema = {
  type: 'array',
  items: { type: 'object', properties: { a: { type: 'string' } } },
}

const DATE_TIME: Schema = { type: 'string', format: 'date-time' }

describe('the schema checker', () => {
  const check = (value: unknown, schema: Schema) => violationsAbout(value, schema, named)

  test('takes what is right', () => {
    expect(check('abc', { type: 'string', minLength: 3, maxLength: 3, pattern: '^a' })).toEqual([])
    expect(check('😀😀', { type: 'string', maxLength: 2 })).toEqual([])
    expect(check([1, 2], { type: 'array', items: { type: 'integer', minimum: 1, maximum: 2 } })).toEqual([])
    expect(check(null, { anyOf: [{ type: 'string' }, { type: 'null' }] })).toEqual([])
    expect(check(null, { type: ['string', 'null'] })).toEqual([])
    expect(check(1, { oneOf: [{ type: 'string' }, { type: 'integer' }] })).toEqual([])
    expect(check('2026-03-01T12:00:00.250Z', { type: 'string', format: 'date-time' })).toEqual([])
    expect(check('http://x/a-{width}x{height}.png', { type: 'string', format: 'uri-template' })).toEqual([])
    expect(check({ x: 1 }, { type: 'object', additionalProperties: { type: 'number' } })).toEqual([])
    expect(check({ error: 'a', status: 1, message: 'b' }, { $ref: '#/components/schemas/Failure' })).toEqual(
      [],
    )
    expect(check({ a: [{ b: 1 }] }, {})).toEqual([])
  })

  for (const [title, value, schema, violation] of [
    ['another type', 1, { type: 'string' }, '/ is not of type string: 1'],
    ['a fraction for an integer', 1.5, { type: 'integer' }, '/ is not of type integer: 1.5'],
    ['an array for an object', [], { type: 'object' }, '/ is not of type object: []'],
    ['null for an object', null, { type: 'object' }, '/ is not of type object: null'],
    ['another value', 'b', { enum: ['a'] }, '/ is none of the values: "b"'],
    ['another constant', 'b', { type: 'string', const: 'a' }, '/ is not "a": "b"'],
    ['none of the types', true, { type: ['string', 'null'] }, '/ is not of type string or null: true'],
    ['two variants', 1, { oneOf: [{ type: 'integer' }, { type: 'number' }] }, '/ is 2 of 2 variants'],
    ['a day that is none', '2026-13-01T00:00:00Z', DATE_TIME, '/ is not a date-time: "2026-13-01T00:00:00Z"'],
    ['no UUID', 'x', { type: 'string', format: 'uuid' }, '/ is not a uuid: "x"'],
    ['no URI', 'http://x/{y}', { type: 'string', format: 'uri' }, '/ is not a uri: "http://x/{y}"'],
    ['more than 32 bits', 2 ** 31, { type: 'integer', format: 'int32' }, '/ is not an int32: 2147483648'],
    ['no variant', 1, { anyOf: [{ type: 'string' }] }, '/ is none of 1 variants: 1'],
    ['a missing field', {}, { type: 'object', required: ['a'], properties: {} }, '/a is missing'],
    ['a field that is not listed', { b: 1 }, { type: 'object', properties: {} }, '/b is not listed'],
    ['a wrong field deep inside', [{ a: 1 }], listOfText, '/0/a is not of type string: 1'],
    ['too few', [], { type: 'array', minItems: 1 }, '/ has 0 items: []'],
    ['too many', [1], { type: 'array', maxItems: 0 }, '/ has 1 items: [1]'],
    ['too short', '', { type: 'string', minLength: 1 }, '/ has 0 characters: ""'],
    ['too long', 'ab', { type: 'string', maxLength: 1 }, '/ has 2 characters: "ab"'],
    ['no match', 'b', { type: 'string', pattern: '^a' }, '/ does not match ^a: "b"'],
    ['too small', 0, { type: 'integer', minimum: 1 }, '/ is not within 1 and Infinity: 0'],
    ['too large', 2, { type: 'integer', maximum: 1 }, '/ is not within -Infinity and 1: 2'],
  ] as [string, unknown, Schema, string][]) {
    test(`finds ${title}`, () => expect(check(value, schema)).toEqual([violation]))
  }

  test('refuses a keyword that it does not know, and a reference that leads nowhere', () => {
    expect(() => check(1, { multipleOf: 2 } as Schema)).toThrow('multipleOf')
    expect(() => check('x', { type: 'string', format: 'iri' })).toThrow('iri')
    expect(() => check(1, { $ref: '#/components/schemas/Nothing' })).toThrow('Nothing')
  })

  test('the document uses no other keyword, and its examples are valid', () => {
    let checked = 0
    for (const { responses } of operations) {
      for (const { content = {} } of Object.values(responses)) {
        const described = content['application/json']
        if (described?.example === undefined) continue
        expect(check(described.example, described.schema)).toEqual([])
        checked += 1
      }
    }
    expect(checked).toBeGreaterThan(30)
  })
})

describe('an answer held against the document', () => {
  test('a file has one of its declared types, and its failures are JSON', () => {
    const exporting = operation('ExportVideoMarkers')
    const of = (given: ReturnType<typeof answer>) =>
      violationsOf({ operation: exporting, request: plain, answer: given }, named)
    const file = (type: string, text: string) => ({
      ...answer(
        200,
        {},
        {
          'content-type': type,
          'content-disposition': 'attachment; filename="a.vtt"',
          'x-content-type-options': 'nosniff',
        },
      ),
      body: Buffer.from(text),
    })
    expect(of(file('text/vtt; charset=utf-8', 'WEBVTT'))).toEqual([])
    expect(of(file('application/json', '{}'))).toEqual([])
    expect(of(file('application/json', 'WEBVTT'))).toEqual(['the body is not JSON'])
    expect(of(file('text/html', 'WEBVTT'))[0]).toStartWith('content type text/html, declared is text/csv')
    expect(of(answer(404, { error: 'Not Found', status: 404, message: 'x' }))).toEqual([])
  })

  test('nothing is wrong with a right one', () => {
    expect(held(answer(200, { data: [user] }))).toEqual([])
    expect(held(answer(404, { error: 'Not Found', status: 404, message: 'x' }))).toEqual([])
  })

  const withoutRequestId = answer(200, {}).headers
  withoutRequestId.delete('x-request-id')

  for (const [title, given, violation] of [
    ['no answer', 'no answer', 'no answer'],
    ['a closed connection', 'hung up', 'hung up'],
    ['a 5xx, declared or not', answer(503, {}), 'status 503'],
    ['a status that is not declared', answer(418, {}), 'status 418 is not declared'],
    ['another content type', answer(200, { data: [user] }, { 'content-type': 'text/html' }), 'content type'],
    ['a body that is not JSON', { ...answer(200, {}), body: Buffer.from('{') }, 'the body is not JSON'],
    ['a body that is not as described', answer(200, { data: [] }), '/data has 0 items'],
    [
      'another status in the body',
      answer(404, { error: 'Not Found', status: 400, message: 'x' }),
      'status 400 in',
    ],
    ['another reason', answer(404, { error: 'Nope', status: 404, message: 'x' }), 'error "Nope"'],
    ['an empty message', answer(404, { error: 'Not Found', status: 404, message: '' }), 'an empty message'],
    ['no request id', { ...answer(200, { data: [user] }), headers: withoutRequestId }, 'no X-Request-Id'],
    [
      'a header that is not described',
      answer(200, { data: [user] }, { 'x-powered-by': 'x' }),
      'the header x-powered-by is not described',
    ],
    [
      'a header with another value',
      answer(200, { data: [user] }, { 'cache-control': 'public' }),
      'Cache-Control',
    ],
    [
      'the token that was sent',
      answer(
        401,
        { error: 'Unauthorized', status: 401, message: 'not some-token-of-an-operator' },
        { 'www-authenticate': 'Bearer' },
      ),
      'a secret',
    ],
    [
      'any token at all',
      answer(404, { error: 'Not Found', status: 404, message: `sapp_${'a'.repeat(38)}` }),
      'a secret',
    ],
  ] as [string, ReturnType<typeof answer>, string][]) {
    test(`finds ${title}`, () => expect(held(given)).toEqual([expect.stringContaining(violation)]))
  }

  test('a body where none is declared, and a wrong line of many', () => {
    const of = (id: string, given: ReturnType<typeof answer>) =>
      violationsOf({ operation: operation(id), request: plain, answer: given }, named)
    expect(of('DeleteGame', answer(204, {}))).toEqual(['a body where none is declared'])
    const lines = {
      ...answer(200, ''),
      headers: new Map(Object.entries({ ...ALWAYS, 'content-type': 'application/x-ndjson' })),
    }
    expect(
      of('ImportLines', { ...lines, body: Buffer.from('{"progress":{"lines":1}}\n{"x":1}\n') }),
    ).toHaveLength(1)
    expect(of('ImportLines', { ...lines, body: Buffer.from('{"progress":{"lines":1}}\n') })).toEqual([])
    const failure = '{"failure":{"error":"x","status":500,"message":"x"}}\n'
    expect(of('ImportLines', { ...lines, body: Buffer.from(failure) })).toEqual(['a line with status 500'])
  })

  test('a broken head may be answered with anything but a failure of the server', () => {
    const broken = { ...plain, isBroken: true }
    expect(held('hung up', broken)).toEqual([])
    expect(held(answer(431, {}), broken)).toEqual([])
    expect(held('no answer', broken)).toEqual(['no answer'])
    expect(held(answer(500, {}), broken)).toEqual(['status 500'])
  })

  test('every planted bug is seen in some answer', () => {
    const answers = [
      answer(200, { data: [user] }),
      answer(404, { error: 'Not Found', status: 404, message: 'x' }),
      answer(400, { error: 'Bad Request', status: 400, message: 'x'.repeat(4) }),
    ]
    for (const given of answers) expect(held(given)).toEqual([])
    for (const [bug, spoil] of Object.entries(PLANTED)) {
      const lengths = Array.from({ length: 50 }, (_, more) =>
        answer(404, { error: 'Not Found', status: 404, message: 'x'.repeat(more + 1) }),
      )
      const seen = [...answers, ...lengths].flatMap(each => held(spoil(each, plain) as typeof each))
      expect([bug, seen.length > 0]).toEqual([bug, true])
    }
  })
})

describe('requests', () => {
  test('the same seed makes the same requests, and they are of every kind', async () => {
    await using strand = await startStrand()
    const draw = (seed: number) => {
      const known = new Known(strand.world, 'http://127.0.0.1:9/events')
      return Array.from({ length: 2000 }, (_, number) => {
        const random = new SeededRandom(seed + number)
        return makeRequest(operations[number % operations.length] as DescribedOperation, known, random)
          .request
      })
    }
    const drawn = draw(1)
    expect(draw(1)).toEqual(drawn)
    expect(draw(2)).not.toEqual(drawn)
    expect(new Set(drawn.map(each => each.operationId)).size).toBe(operations.length)
    for (const some of [
      (each: FuzzRequest) => each.isBroken,
      (each: FuzzRequest) => each.target.includes('%00'),
      (each: FuzzRequest) => each.target.includes(strand.world.broadcaster.id),
      (each: FuzzRequest) => each.headers.some(([name]) => name === 'Client-Id'),
      (each: FuzzRequest) => each.body !== undefined && !isJson(each.body),
      (each: FuzzRequest) => (each.body?.length ?? 0) > 65_536,
    ]) {
      expect(drawn.some(some)).toBe(true)
    }
  })

  test('bytes are sent as they are, and shown as a line for a shell', async () => {
    const request = { ...plain, target: "/x?'\xff", body: Buffer.from('{"a":"\0é\'"}') }
    expect(Buffer.from(bytesOf(request, 'here')).toString('latin1')).toBe(
      'GET /x?\'\xff HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer some-token-of-an-operator\r\nContent-Length: 12\r\n\r\n{"a":"\0\xc3\xa9\'"}',
    )
    const line = curlOf({ ...request, body: Buffer.from('é\'"\\') }, 'http://localhost')
    const shown = Bun.spawnSync(['bash', '-c', line.replace('curl', 'printf "%s\\n"')]).stdout
    expect(shown.toString('latin1').split('\n').slice(0, -1)).toEqual([
      '-i',
      '--path-as-is',
      '--globoff',
      '-X',
      'GET',
      '-H',
      'Authorization: Bearer some-token-of-an-operator',
      '-H',
      'Content-Type:',
      '--data-binary',
      '\xc3\xa9\'"\\',
      "http://localhost/x?'\xff",
    ])
  })

  test('answers are read with a length and in chunks, and waited for until they are whole', () => {
    const read = (text: string) => readAnswer(Buffer.from(text))
    const head = 'HTTP/1.1 200 OK\r\nX-A: b\r\n'
    expect(read(`${head}Content-Length: 2\r\n\r\nhi`)?.body.toString()).toBe('hi')
    expect(read(`${head}Content-Length: 2\r\n\r\nh`)).toBeUndefined()
    expect(
      read(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n3\r\n ho\r\n0\r\n\r\n`)?.body.toString(),
    ).toBe('hi ho')
    expect(read(`${head}Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n`)).toBeUndefined()
    expect(read(head)).toBeUndefined()
    expect(read('HTTP/1.1 204 No Content\r\nx-a: B\r\n\r\n')).toMatchObject({
      status: 204,
      headers: new Map([['x-a', 'B']]),
    })
  })
})

function isJson(body: Uint8Array): boolean {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    return true
  } catch {
    return false
  }
}
