/**
 * What no client sends by mistake: broken and oversized input, raw sockets, tricks with paths and framing. Whatever comes,
 * the answer is JSON of the right shape, it is prompt, it is never our fault (5xx), and the next request is served.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { reasonPhrases } from '../../src/contract/problem.ts'
import { anyCharacter, runs } from '../support/properties.ts'
import { type RawAnswer, raw, Wire } from '../support/server/wire.ts'
import { type Answer, type Ask, engines, startTestServer, type TestServer } from '../support/server.ts'

const LIMIT = 64 * 1024
const PROMPT_MILLISECONDS = 1000

/** The shape that every answer of the families has, success or failure. */
function expectShape(answer: { status: number; contentType: string | null; text: string }): void {
  expect(answer.status).toBeLessThan(500)
  expect(answer.contentType).toBe('application/json')
  const body = JSON.parse(answer.text)
  if (answer.status === 200) {
    expect(body.data).toBeArray()
    return
  }
  expect(Object.keys(body)).toEqual(['error', 'status', 'message'])
  expect(body.status).toBe(answer.status)
  expect(body.error).toBe(reasonPhrases[answer.status])
  expect(body.message).toBeString()
}

function expectRaw(answer: RawAnswer | undefined, status: number): RawAnswer {
  if (answer === undefined) throw new Error(`the server hung up instead of answering ${status}`)
  expect(answer.status).toBe(status)
  expectShape({ ...answer, contentType: answer.headers.get('content-type') ?? null })
  return answer
}

function expectAnswer(answer: Answer, status?: number): void {
  if (status !== undefined) expect({ status: answer.status, text: answer.text }).toMatchObject({ status })
  expectShape({ ...answer, contentType: answer.headers.get('content-type') })
}

for (const engine of engines) {
  describe(`hostile input on ${engine}`, () => {
    let server: TestServer
    let url: string
    beforeAll(async () => {
      server = await startTestServer(engine)
      url = server.strand.url
    })
    afterAll(() => server.stop())

    const patch = (rawBody: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
      server.call({
        method: 'PATCH',
        path: '/helix/entitlements/drops',
        token: server.world.client.app_token,
        rawBody,
        headers,
      })
    const mark = (rawBody: string) =>
      server.call({
        method: 'POST',
        path: '/helix/streams/markers',
        token: server.world.broadcaster.token,
        rawBody,
      })
    const patchHead = (...lines: string[]) =>
      [
        'PATCH /helix/entitlements/drops HTTP/1.1',
        'Host: localhost',
        `Authorization: Bearer ${server.world.client.app_token}`,
        ...lines,
        '',
        '',
      ].join('\r\n')
    const chunk = (text: string) => `${Buffer.byteLength(text, 'latin1').toString(16)}\r\n${text}\r\n`
    const harmless = '{"entitlement_ids":["no-id"],"fulfillment_status":"CLAIMED"}'
    const invalid = { data: [{ status: 'INVALID_ID', ids: ['no-id'] }] }

    describe('bodies', () => {
      for (const [title, body] of [
        ['cut off', '{"entitlement_ids":['],
        ['a trailing comma', '{"entitlement_ids":["a"],}'],
        ['single quotes', "{'entitlement_ids':['a']}"],
        ['two values', '{}{}'],
        ['NaN', '{"entitlement_ids":NaN}'],
        ['a comment', '{/* */}'],
        ['a byte order mark and nothing', '\ufeff'],
        ['a raw newline inside a string', '{"entitlement_ids":["a\nb"]}'],
        ['null', 'null'],
        ['a string', '"x"'],
        ['a number', '7'],
        ['only a blank', ' '],
        ['64 KiB of [', '['.repeat(LIMIT)],
        ['64 KiB of {"a":', '{"a":'.repeat(LIMIT / 5)],
        ['arrays in arrays, closed', `${'['.repeat(LIMIT / 2)}${']'.repeat(LIMIT / 2)}`],
      ] as const) {
        test(`400 malformed JSON: ${title}`, async () => {
          expectAnswer(await patch(body), 400)
        })
      }

      test('400 a known field 32,000 arrays deep', async () => {
        const deep = `${'['.repeat(32_000)}${']'.repeat(32_000)}`
        expectAnswer(await patch(`{"entitlement_ids":${deep},"fulfillment_status":"CLAIMED"}`), 400)
        expectAnswer(await patch(`{"entitlement_ids":["a"],"fulfillment_status":${deep}}`), 400)
        expectAnswer(await mark(`{"user_id":"1","description":${deep}}`), 400)
      })

      test('400 a known field 10,000 objects deep', async () => {
        const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
        expectAnswer(await patch(`{"entitlement_ids":[${deep}],"fulfillment_status":"CLAIMED"}`), 400)
        expectAnswer(await mark(`{"user_id":${deep}}`), 400)
      })

      test("400 an operator's field a million arrays deep", async () => {
        const deep = `${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`
        for (const [path, field] of [
          ['/control/entitlements', 'grants'],
          ['/control/viewers', 'counts'],
          ['/control/follows', 'follows'],
        ]) {
          const answer = await server.call({
            method: 'POST',
            path: path as string,
            token: server.world.operator_token,
            rawBody: `{"${field}":${deep}}`,
          })
          expectAnswer(answer, 400)
        }
      })

      test('200 an unknown field of any depth is passed over', async () => {
        const deep = `${'['.repeat(32_000)}${']'.repeat(32_000)}`
        const answer = await patch(`{"x":${deep},${harmless.slice(1)}`)
        expectAnswer(answer, 200)
        expect(answer.body).toEqual(invalid)
      })

      for (const number of ['1e400', '-1e400', '123456789012345678901234567890', '1.5', '-1', '1e-400']) {
        test(`400 or 404 the number ${number} where an id belongs`, async () => {
          expect([400, 404]).toContain((await mark(`{"user_id":${number}}`)).status)
          expectAnswer(await mark(`{"user_id":${number}}`))
          expectAnswer(await patch(`{"entitlement_ids":[${number}],"fulfillment_status":"CLAIMED"}`), 400)
        })
      }

      test('400 a number with 60,000 digits', async () => {
        expectAnswer(await mark(`{"user_id":${'9'.repeat(60_000)}}`), 400)
      })

      test('200 or 400 duplicate keys: one of them counts, neither is half read', async () => {
        expectAnswer(await patch(`{"fulfillment_status":"NOPE",${harmless.slice(1)}`))
        expectAnswer(await patch(`${harmless.slice(0, -1)},"fulfillment_status":"NOPE"}`), 400)
        expectAnswer(await patch(`${harmless.slice(0, -1)},"entitlement_ids":7}`), 400)
      })

      test('200 __proto__, constructor and prototype are keys like any other unknown one', async () => {
        const before = Object.getOwnPropertyNames(Object.prototype)
        const evil = '{"polluted":true,"toString":"x","entitlement_ids":["evil"]}'
        for (const key of ['__proto__', 'constructor', 'prototype', 'hasOwnProperty', 'toString']) {
          const answer = await patch(`{"${key}":${evil},${harmless.slice(1)}`)
          expectAnswer(answer, 200)
          expect(answer.body).toEqual(invalid)
          expectAnswer(await patch(`{"${key}":${evil}}`), 400)
          expectAnswer(await patch(`{"constructor":{"prototype":{"polluted":1}},${harmless.slice(1)}`), 200)
        }
        for (const key of ['__proto__', 'constructor', '__proto__[polluted]', 'constructor.prototype.x']) {
          const search = `${encodeURIComponent(key)}=polluted&${key}=1&first=1`
          expectAnswer(await server.call({ path: '/helix/streams', search }), 200)
        }
        const viewers = await server.call({
          method: 'POST',
          path: '/control/viewers',
          token: server.world.operator_token,
          rawBody: '{"counts":{"__proto__":1,"constructor":2}}',
        })
        expect(viewers.status).toBe(204)
        expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before)
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
      })

      test('400 lone surrogates and U+0000 in every text field', async () => {
        const { broadcaster } = server.world
        for (const bad of ['\\ud800', 'a\\udc00b', '\\udc00\\ud800', '\\u0000', 'a\\u0000']) {
          expectAnswer(await patch(`{"entitlement_ids":["${bad}"],"fulfillment_status":"CLAIMED"}`), 400)
          expectAnswer(await patch(`{"entitlement_ids":["a"],"fulfillment_status":"${bad}"}`), 400)
          expectAnswer(await mark(`{"user_id":"${broadcaster.id}","description":"${bad}"}`), 400)
          expectAnswer(await mark(`{"user_id":"${bad}"}`), 400)
        }
        expectAnswer(await patch(`{"x":"\\ud800\\u0000",${harmless.slice(1)}`), 200)
      })

      test('200 text at the edges comes back byte for byte', async () => {
        const { broadcaster } = server.world
        for (const text of [
          '\u0001\u001f\u007f',
          '\ufeff\u202e\u200b',
          '\u{10ffff}',
          '😀'.repeat(140),
          `'";--\\`,
        ]) {
          const answer = await mark(JSON.stringify({ user_id: broadcaster.id, description: text }))
          expectAnswer(answer, 200)
          expect(answer.body.data[0].description).toBe(text)
        }
      })

      test('400 bytes that are not UTF-8', async () => {
        for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 0x80, 0x80, 0x80]]) {
          const body = Buffer.concat([
            Buffer.from('{"entitlement_ids":["'),
            Uint8Array.from(bytes),
            Buffer.from('"],"fulfillment_status":"CLAIMED"}'),
          ])
          expectAnswer(await patch(new Uint8Array(body)), 400)
        }
      })

      test('200 the content type does not matter, as long as the bytes are JSON', async () => {
        for (const type of [
          'text/plain',
          'application/json; charset=utf-16',
          'nonsense',
          'multipart/form-data',
        ]) {
          expectAnswer(await patch(harmless, { 'Content-Type': type }), 200)
        }
      })
    })

    describe('sizes and framing', () => {
      test('200 a body of exactly 64 KiB, 413 one byte more', async () => {
        const padded = (size: number) =>
          `{"x":"${'x'.repeat(size - harmless.length - 7)}",${harmless.slice(1)}`
        expect(padded(LIMIT)).toHaveLength(LIMIT)
        expectAnswer(await patch(padded(LIMIT)), 200)
        expectAnswer(await patch(padded(LIMIT + 1)), 413)
      })

      test('413 a larger body, announced: answered before it is sent', async () => {
        for (const size of [LIMIT + 1, 10_000_000]) {
          // The body is never sent: who waited for it would not answer.
          expectRaw(await raw(url, patchHead(`Content-Length: ${size}`)), 413)
        }
      })

      test('413 or hung up by the runtime: a length beyond what any route takes', async () => {
        const answer = await raw(url, patchHead('Content-Length: 99999999999'))
        expect(answer?.status ?? 413).toBe(413)
      })

      test('413 a larger body, in chunks without an end: answered as soon as it is too long', async () => {
        const wire = await Wire.open(url)
        await wire.send(patchHead('Transfer-Encoding: chunked'))
        for (let sent = 0; sent <= LIMIT; sent += 8192) await wire.send(chunk('x'.repeat(8192)))
        // The last chunk is never sent: who waited for it would not answer.
        expectRaw(await wire.answer(), 413)
        wire.close()
      })

      test('200 behind a refused body the connection still serves, or is closed', async () => {
        const wire = await Wire.open(url)
        await wire.send(patchHead(`Content-Length: ${LIMIT + 1}`) + 'x'.repeat(LIMIT + 1))
        expectRaw(await wire.answer(), 413)
        await wire.send('GET /helix/streams?first=1 HTTP/1.1\r\nHost: localhost\r\n\r\n')
        const next = await wire.answer()
        if (next !== undefined) expectRaw(next, 200)
        wire.close()
      })

      test('200 a small body in chunks of one byte', async () => {
        const chunks = [...harmless].map(chunk).join('')
        const answer = expectRaw(
          await raw(url, `${patchHead('Transfer-Encoding: chunked')}${chunks}0\r\n\r\n`),
          200,
        )
        expect(JSON.parse(answer.text)).toEqual(invalid)
      })

      test('200 chunks with extensions', async () => {
        const body = `${harmless.length.toString(16)};a=b;c="d"\r\n${harmless}\r\n0;last\r\n\r\n`
        expectRaw(await raw(url, patchHead('Transfer-Encoding: chunked') + body), 200)
      })

      test('200 a request that arrives byte by byte', async () => {
        const wire = await Wire.open(url)
        const request = patchHead(`Content-Length: ${harmless.length}`) + harmless
        for (const byte of request) await wire.send(byte)
        const answer = expectRaw(await wire.answer(), 200)
        expect(JSON.parse(answer.text)).toEqual(invalid)
        wire.close()
      })

      test('pipelined requests are answered in their order, or the connection is closed; never mixed up', async () => {
        const wire = await Wire.open(url)
        const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: localhost\r\n\r\n`
        const body = `${patchHead(`Content-Length: ${harmless.length}`)}${harmless}`
        const turns = [1, 2, 3].flatMap(n => [
          { send: get(`/helix/streams?first=${n}`), rows: n },
          { send: get('/helix/nothing'), rows: undefined },
          { send: body, rows: 1 },
        ])
        await wire.send(turns.map(({ send }) => send).join(''))
        for (const { rows } of turns) {
          const answer = await wire.answer()
          if (answer === undefined) break
          expectRaw(answer, rows === undefined ? 404 : 200)
          if (rows !== undefined) expect(JSON.parse(answer.text).data).toHaveLength(rows)
        }
        wire.close()
        expectAnswer(await patch(harmless), 200)
      })

      test('200 requests one after another on one connection', async () => {
        const wire = await Wire.open(url)
        for (let n = 0; n < 20; n++) {
          await wire.send(`${patchHead(`Content-Length: ${harmless.length}`)}${harmless}`)
          expect(JSON.parse(expectRaw(await wire.answer(), 200).text)).toEqual(invalid)
        }
        wire.close()
      })

      test('200 a body on GET is not taken for the next request', async () => {
        const wire = await Wire.open(url)
        const smuggled = 'GET /helix/nothing HTTP/1.1\r\nHost: localhost\r\n\r\n'
        await wire.send(
          `GET /helix/streams?first=1 HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
        )
        expectRaw(await wire.answer(), 200)
        await wire.send('GET /helix/streams?first=2 HTTP/1.1\r\nHost: localhost\r\n\r\n')
        const next = await wire.answer()
        if (next !== undefined) expectRaw(next, 200)
        wire.close()
      })

      test('a connection that ends in the middle of a body harms no other and is no failure of ours', async () => {
        for (const [index, framing] of ['Content-Length: 5000', 'Transfer-Encoding: chunked'].entries()) {
          const id = `cut-${engine}-${index}`
          const wire = await Wire.open(url)
          await wire.send(patchHead(framing, `X-Request-Id: ${id}`, 'Expect: 100-continue'))
          expect((await wire.answer())?.status).toBe(100)
          await wire.send(index === 0 ? '{"entitlement_ids":' : chunk('{"entitlement_ids":'))
          wire.close()
          const line = await untilDefined(() => server.logLines.find(each => each.includes(`"${id}"`)))
          expect((JSON.parse(line) as { status?: number }).status ?? 0).toBeLessThan(500)
        }
        expectAnswer(await patch(harmless), 200)
      })

      test('a hundred connections that end in the middle of a head leave room for the next', async () => {
        const wires = await Promise.all(Array.from({ length: 100 }, () => Wire.open(url)))
        await Promise.all(wires.map(wire => wire.send('GET /helix/streams HTTP/1.1\r\nHost: loc')))
        for (const wire of wires) wire.close()
        expectRaw(await raw(url, 'GET /helix/streams?first=1 HTTP/1.1\r\nHost: localhost\r\n\r\n'), 200)
      })

      test('505 another version of the protocol', async () => {
        const answer = await raw(url, 'GET /helix/streams HTTP/9.9\r\nHost: localhost\r\n\r\n')
        expect(answer?.status ?? 505).toBe(505)
      })

      for (const [title, request] of [
        ['two lengths', () => patchHead('Content-Length: 2', 'Content-Length: 60') + harmless],
        [
          'a length and chunks',
          () => `${patchHead('Content-Length: 60', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
        ],
        ['a negative length', () => patchHead('Content-Length: -1') + harmless],
        ['a length in hex', () => patchHead('Content-Length: 0x3c') + harmless],
        ['an unknown coding', () => patchHead('Transfer-Encoding: gzip') + harmless],
        [
          'a chunk size that is no number',
          () => `${patchHead('Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`,
        ],
        ['a blank before the colon', () => patchHead('Content-Length : 60') + harmless],
        ['a normalized header', () => patchHead('X-Long: a', ' b') + harmless],
        ['NUL in a header', () => patchHead('X-Nul: a\0b') + harmless],
        ['no request at all', () => '\r\n\r\n'],
        ['another protocol', () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'],
        ['an invented method', () => 'FROBNICATE /helix/streams HTTP/1.1\r\nHost: localhost\r\n\r\n'],
        ['no host in HTTP/1.1', () => 'GET /helix/streams HTTP/1.1\r\n\r\n'],
      ] as const) {
        test(`4xx or hung up: ${title}`, async () => {
          const wire = await Wire.open(url)
          await wire.send(request())
          // What the server takes for an unfinished request ends when we do.
          const answer = await Promise.race([wire.answer(), Bun.sleep(PROMPT_MILLISECONDS)])
          wire.close()
          if (answer !== undefined) expect(answer.status).toBeLessThan(500)
          expectRaw(await raw(url, 'GET /helix/streams?first=1 HTTP/1.1\r\nHost: localhost\r\n\r\n'), 200)
        })
      }
    })

    describe('heads', () => {
      const get = (target: string, ...lines: string[]) =>
        raw(url, [`GET ${target} HTTP/1.1`, 'Host: localhost', ...lines, '', ''].join('\r\n'))

      test('200 HTTP/1.0 without Host', async () => {
        const answer = expectRaw(await raw(url, 'GET /helix/streams?first=2 HTTP/1.0\r\n\r\n'), 200)
        expect(JSON.parse(answer.text).data).toHaveLength(2)
        expectRaw(await raw(url, 'GET /nothing HTTP/1.0\r\n\r\n'), 404)
      })

      const everywhere = [
        '/helix/streams?first=1',
        '/helix/nothing',
        '/oauth2/validate',
        '/oauth2/authorize?client_id=x',
        '/login?next=/account',
        '/activate',
        '/control/users',
        '/healthz',
        '/docs',
        '/metrics',
        '/nothing',
      ]
      const withHost = (host: string, target: string) =>
        raw(url, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)

      test('400 a malformed Host, on every kind of path, and nothing in the log', async () => {
        const before = server.logLines.length
        for (const host of [
          'a b',
          'a/b',
          'a/helix/streams?x=',
          'a?b',
          'a#b',
          'a@b',
          'user:password@a',
          'a\\b',
          '<script>',
          'a"b',
          'a|b',
          'a,b',
          'a\tb',
          'a%00b',
          '\xff',
          '\xc3\xbc.example',
          '[::1',
          '::1',
          '[x]',
          'a:b',
          'a:123456',
          'x'.repeat(256),
          'x'.repeat(9000),
          'a\r\nHost: b',
        ]) {
          for (const target of everywhere) {
            const answer = await withHost(host, target)
            expect([host, target, answer?.status]).toEqual([host, target, 400])
            if (target.startsWith('/helix')) {
              expect(expectRaw(answer, 400).headers.get('ratelimit-limit')).toMatch(/^[0-9]+$/)
            }
          }
        }
        expect(server.logLines.slice(before).filter(line => !line.includes('"level":"debug"'))).toEqual([])
      })

      test('4xx or better with a Host that is only odd', async () => {
        const before = server.logLines.length
        for (const host of [
          '',
          '.',
          '..',
          'a..b',
          '-a',
          'a_b.example',
          'EXAMPLE.org.',
          'xn--',
          'xn--a',
          '1.2.3.4.5',
          '999.1.1.1',
          '0x7f.1',
          '[::1]',
          '[::1]:80',
          '[:::::]',
          'a:',
          'a:0',
          'a:99999',
          'localhost:08080',
        ]) {
          for (const target of everywhere) {
            const answer = await withHost(host, target)
            expect([host, target, (answer?.status ?? 500) < 500]).toEqual([host, target, true])
          }
          expect([host, (await withHost(host, '/login'))?.status]).toEqual([host, 200])
        }
        const violations = server.logLines.slice(before).filter(line => line.includes('"level":"error"'))
        expect(violations).toEqual([])
      })

      test('200 odd Accept headers, and Content-Type on GET', async () => {
        for (const line of [
          'Accept: text/html',
          'Accept: application/vnd.twitchtv.v5+json',
          'Accept: */*;q=0',
          'Accept: ,,;;==',
          'Accept:',
          'Accept-Charset: utf-7',
          'Accept-Encoding: zstd;q=1, *;q=0',
          'Content-Type: application/json',
          'Content-Type: application/x-www-form-urlencoded',
          'Content-Type: ;;;',
          'If-None-Match: *',
          'If-Modified-Since: Sat, 01 Jan 2050 00:00:00 GMT',
          'Range: bytes=0-1',
          'Upgrade: websocket',
          'X-HTTP-Method-Override: DELETE',
          'Cookie: a=b; Authorization=Bearer x',
        ]) {
          expectRaw(await get('/helix/streams?first=1', line), 200)
        }
      })

      test('200 a trailing ?, empty pieces and pieces without a value', async () => {
        for (const target of [
          '/helix/streams?',
          '/helix/streams??',
          '/helix/streams?&first=1',
          '/helix/streams?first=1&&type=all&',
          '/helix/streams?&&&&',
          '/helix/streams?=&=x&x',
          '/helix/streams?first=&after=&before=&type=&user_id=',
          '/helix/streams?%66irst=%31',
        ]) {
          expectRaw(await get(target), 200)
        }
      })

      test('200 a request line of 9.5 KB: 100 values in each of three lists', async () => {
        const { broadcaster } = server.world
        const list = (name: string, make: (n: number) => string) =>
          Array.from({ length: 100 }, (_, n) => `${name}=${make(n)}`).join('&')
        const digits = (n: number) => String(9_000_000_000_000_000_000n + BigInt(n))
        const query = [
          list('user_id', n => (n === 99 ? broadcaster.id : digits(n))),
          list('user_login', n => `a_rather_long_login_${String(n).padStart(5, '0')}`),
          list('game_id', n => (n === 99 ? server.world.game.id : digits(n))),
        ].join('&')
        expect(query.length).toBeGreaterThan(9000)
        const answer = expectRaw(await get(`/helix/streams?${query}`), 200)
        expect(JSON.parse(answer.text).data).toMatchObject([{ user_id: broadcaster.id }])
        const one = `&user_id=1`
        expectRaw(await get(`/helix/streams?${query}${one}`), 400)
      })

      test('200 a header of 12 KB', async () => {
        expectRaw(await get('/helix/streams?first=1', `X-Large: ${'x'.repeat(12 * 1024)}`), 200)
      })

      test('200 a head of 31 KB in all: the longest legal request line and large headers besides', async () => {
        const lines = Array.from({ length: 21 }, (_, n) => `X-Large-${n}: ${'x'.repeat(1000)}`)
        expectRaw(await get(`/helix/streams?first=1&user_login=${'x'.repeat(9000)}`, ...lines), 200)
      })

      test('431 or hung up: a head of 10 MB', async () => {
        const wire = await Wire.open(url)
        void wire.send(
          `GET /helix/streams HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(10_000_000)}\r\n\r\n`,
        )
        const answer = await wire.answer()
        if (answer !== undefined) expect(answer.status).toBe(431)
        wire.close()
        expectRaw(await get('/helix/streams?first=1'), 200)
      })

      test('401 tokens of every wrong form, and none of them is echoed', async () => {
        for (const value of [
          'Bearer',
          'Bearer ',
          'Bearer  ',
          'Bearer a b',
          `Bearer ${'x'.repeat(8000)}`,
          'Bearer \xff\xfe',
          "Bearer ' or 1=1 --",
          'Basic dXNlcjpwYXNz',
          `Bearer ${server.world.client.app_token} `.repeat(2),
          `Bearer ${server.world.client.app_token},x`,
          'bearer sapp_00000000000000000000000000000000000000',
        ]) {
          const answer = expectRaw(await get('/helix/entitlements/drops', `Authorization: ${value}`), 401)
          expect(answer.text).not.toContain(value)
        }
      })

      test('401 a token in the query string is refused', async () => {
        const { app_token } = server.world.client
        for (const name of ['access_token', 'oauth_token', 'token']) {
          expectRaw(await get(`/helix/entitlements/drops?${name}=${app_token}`), 401)
        }
      })

      test('200 a request id that is not well formed is replaced', async () => {
        for (const id of ['a b', '<script>', 'x'.repeat(129), '\xff', '']) {
          const answer = expectRaw(await get('/helix/streams?first=1', `X-Request-Id: ${id}`), 200)
          expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
        }
      })
    })

    describe('paths and methods', () => {
      const ask = (method: string, target: string, ...lines: string[]) =>
        raw(url, [`${method} ${target} HTTP/1.1`, 'Host: localhost', ...lines, '', ''].join('\r\n'))

      for (const target of [
        '/helix',
        '/helix/',
        '/helix/streams/',
        '/helix//streams',
        '//helix/streams',
        '/helix/Streams',
        '/HELIX/streams',
        '/helix/streams%2Fkey',
        '/helix%2Fstreams',
        '/helix/stream%73',
        '/helix/streams%00',
        '/helix/streams;x=1',
        '/helix/streams.json',
        '/helix/%FF',
        '/helix/__proto__',
        '/helix/constructor',
        '/mock/nothing',
        '/control.json',
        '/etc/passwd',
        '/%2e%2e/%2e%2e/etc/passwd',
        '/favicon.png',
        '/.env',
      ]) {
        test(`404 GET ${target}`, async () => {
          expectRaw(await ask('GET', target), 404)
        })
      }

      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'CONNECT', 'PROPFIND']) {
        test(`404 ${method} on a known path that does not have it`, async () => {
          const answer = expectRaw(await ask(method, '/helix/streams'), 404)
          expect(answer.headers.get('ratelimit-limit')).toMatch(/^[0-9]+$/)
          expectRaw(await ask(method, '/healthz'), 404)
        })
      }

      test('404 HEAD, with the headers and without the body', async () => {
        for (const target of ['/helix/streams', '/helix/nothing', '/nothing']) {
          const answer = await ask('HEAD', target)
          expect(answer?.status).toBe(404)
          expect(answer?.headers.get('content-type')).toBe('application/json')
          expect(answer?.text).toBe('')
        }
      })

      test('HEAD outside the families and on the pages is GET without the body', async () => {
        for (const target of [
          '/',
          '/healthz',
          '/readyz',
          '/docs',
          '/openapi.json',
          '/metrics',
          '/login',
          '/account',
        ]) {
          const [head, get] = [await ask('HEAD', target), await ask('GET', target)]
          expect([target, head?.status, head?.text]).toEqual([target, get?.status, ''])
          expect(head?.headers.get('content-type')).toBe(get?.headers.get('content-type') as string)
          const names = (answer: typeof head) =>
            // The runtime dates no answer to HEAD.
            [...(answer?.headers.keys() ?? [])].filter(name => name !== 'date').toSorted()
          expect([target, names(head)]).toEqual([target, names(get)])
          // The others have numbers or secrets that are different each time.
          if (!['/metrics', '/login', '/readyz'].includes(target))
            expect(head?.headers.get('content-length')).toBe(get?.headers.get('content-length') as string)
        }
      })

      test('404 two-field body on the OAuth side', async () => {
        for (const [method, target] of [
          ['GET', '/oauth2/nothing'],
          ['PUT', '/auth/token'],
          ['DELETE', '/oauth2/validate'],
        ]) {
          const answer = await ask(method as string, target as string)
          expect(answer?.status).toBe(404)
          expect(Object.keys(JSON.parse(answer?.text ?? ''))).toEqual(['status', 'message'])
        }
      })

      const traversals = [
        '/helix/../control/users',
        '/helix/%2e%2e/control/users',
        '/helix/%2E%2E%2Fcontrol/users',
        '/helix/..%2fcontrol/users',
        '/helix/..\\control\\users',
        '/helix/streams/../../control/users',
        '/./control/users',
        'http://localhost/helix/../control/users',
        'http://evil.example/control/users',
      ]
      for (const target of traversals) {
        test(`401 or 404 ${target}: no way around the operator's token`, async () => {
          for (const token of [undefined, server.world.client.app_token, server.world.broadcaster.token]) {
            const answer = await ask('GET', target, ...(token ? [`Authorization: Bearer ${token}`] : []))
            expect([401, 404]).toContain(answer?.status ?? 0)
            expectRaw(answer, answer?.status ?? 0)
          }
        })
      }

      test('404 with a listener for the operator, no path of the public one leads to control', async () => {
        const split = await startTestServer(engine, {
          config: { operatorListen: { host: '127.0.0.1', port: 0 } },
        })
        try {
          for (const target of ['/control/users', '/control/', ...traversals]) {
            const answer = await raw(
              split.url,
              `GET ${target} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${split.world.operator_token}\r\n\r\n`,
            )
            expectRaw(answer, 404)
          }
        } finally {
          await split.stop()
        }
      })
    })

    test('property: any query string and any body get a JSON answer that is not our fault', async () => {
      const { world } = server
      const targets: readonly Ask[] = [
        { method: 'GET', path: '/helix/entitlements/drops', token: world.client.app_token },
        { method: 'GET', path: '/helix/entitlements/drops', token: world.viewer.token },
        { method: 'PATCH', path: '/helix/entitlements/drops', token: world.client.app_token },
        { method: 'GET', path: '/helix/streams' },
        { method: 'GET', path: '/helix/streams/followed', token: world.viewer.token },
        { method: 'GET', path: '/helix/streams/key', token: world.broadcaster.token },
        { method: 'POST', path: '/helix/streams/markers', token: world.broadcaster.token },
        { method: 'GET', path: '/helix/streams/markers', token: world.broadcaster.token },
      ]
      const property = fc.asyncProperty(queries(world), bodies(world), async (search, rawBody) => {
        await Promise.all(
          targets.map(async target => {
            const body = target.method === 'GET' ? {} : { rawBody }
            expectAnswer(await server.call({ ...target, search, ...body }))
          }),
        )
      })
      await fc.assert(property, { numRuns: runs(400) })
    })
  })
}

/** Query strings: mostly names and values that mean something, put together in ways that need not; partly any bytes. */
function queries(world: TestServer['world']): fc.Arbitrary<string> {
  const name = fc.constantFrom(
    ...['id', 'user_id', 'user_login', 'game_id', 'broadcaster_id', 'video_id', 'language', 'type', 'first'],
    ...['after', 'before', 'fulfillment_status', 'description', '__proto__', 'x', ''],
  )
  const percent = fc
    .uint8Array({ maxLength: 12 })
    .map(bytes => [...bytes].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join(''))
  const value = fc.oneof(
    fc.constantFrom(world.broadcaster.id, world.viewer.id, world.game.id, world.broadcaster.login),
    fc.constantFrom('', '0', '1', '20', '100', '101', '-1', '1e2', '05', '5.0', '%D9%A3', '9'.repeat(40)),
    fc.constantFrom(
      'CLAIMED',
      'FULFILLED',
      'all',
      'live',
      'en',
      'null',
      '[]',
      '%00',
      '%ED%A0%80',
      '%',
      '%zz',
    ),
    fc.uuid(),
    fc.string({ unit: anyCharacter, maxLength: 20 }).map(encode),
    fc.base64String({ maxLength: 60 }).map(encode),
    percent,
  )
  const pair = fc.oneof(
    fc.tuple(name, value).map(([left, right]) => `${left}=${right}`),
    name,
    percent,
  )
  return fc.array(pair, { maxLength: 8 }).map(pairs => pairs.join('&'))
}

/** Bodies: the known fields with right and wrong values, other JSON, and bytes that are none. */
function bodies(world: TestServer['world']): fc.Arbitrary<string | Uint8Array<ArrayBuffer>> {
  const id = fc.oneof(
    fc.uuid(),
    fc.constantFrom('', 'x', world.broadcaster.id),
    fc.string({ unit: anyCharacter }),
  )
  const anything = fc.jsonValue()
  const known = fc
    .record(
      {
        entitlement_ids: fc.oneof(fc.array(id, { maxLength: 101 }), anything),
        fulfillment_status: fc.oneof(fc.constantFrom('CLAIMED', 'FULFILLED', 'claimed'), anything),
        user_id: fc.oneof(fc.constantFrom(world.broadcaster.id, Number(world.broadcaster.id)), id, anything),
        description: fc.oneof(fc.string({ unit: anyCharacter, maxLength: 150 }), anything),
      },
      { requiredKeys: [] },
    )
    .map(value => JSON.stringify(value))
  return fc.oneof(
    { weight: 5, arbitrary: known },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.string({ unit: anyCharacter, maxLength: 40 }) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map(bytes => new Uint8Array(bytes)) },
  )
}

/** Percent-encodes text that may hold half a character. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** Looks again at every turn until there is something. */
async function untilDefined<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    const found = look()
    if (found !== undefined) return found
    await Bun.sleep(1)
  }
}
