import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { imageUrl } from '../../src/contract/image-urls.ts'
import { runs } from '../support/properties.ts'
import { onEachStore } from '../support/server/each-store.ts'
import { scrape } from '../support/server/scrape.ts'
import { raw, Wire } from '../support/server/wire.ts'
import { decodePng } from './decode-png.ts'

const KINDS = ['users', 'games', 'channels', 'videos'] as const
const DEFAULTS = { users: [300, 300], games: [285, 380], channels: [320, 180], videos: [320, 180] } as const
const PATH = '/images/users/141981764-300x300.png'
const ETAG = `"${PATH}-v1"`

const SIZE_MESSAGE = 'The size must be <width>x<height> with values from 1 to 2048, such as 320x180.'
const NO_SUCH_PATH = 'There is no such operation at this path with this method.'

/** The headers of D-98 that every picture has, and the answer that it has not changed. */
const CACHING = {
  'cache-control': 'public, max-age=86400',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'x-content-type-options': 'nosniff',
}

/** Two scrapes can only be compared if one process answers both. */
const ofOneProcess = test.skipIf(Number(process.env.TEST_NODES || 1) > 1)

const headersOf = ({ headers }: Response) => Object.fromEntries(headers)
const request = (path: string, lines: readonly string[] = [], method = 'GET') =>
  [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...lines, '', ''].join('\r\n')

onEachStore('pictures over HTTP', {}, server => {
  const get = (path: string, init: RequestInit = {}) => fetch(server().url + path, init)
  const sizeOf = async (answer: Response) => {
    const { width, height } = decodePng(new Uint8Array(await answer.arrayBuffer()))
    return [width, height]
  }

  describe('200', () => {
    test('200 each kind as PNG with the headers of D-98, without a token or a point', async () => {
      for (const kind of KINDS) {
        const path = `/images/${kind}/33214-120x80.png`
        const answer = await get(path, { headers: { 'X-Request-Id': 'mine-1' } })
        expect(answer.status).toBe(200)
        const { date: _date, 'content-length': length, ...headers } = headersOf(answer)
        expect(headers).toEqual({
          ...CACHING,
          'content-type': 'image/png',
          etag: `"${path}-v1"`,
          'x-request-id': 'mine-1',
        })
        const bytes = new Uint8Array(await answer.arrayBuffer())
        expect(bytes.length).toBe(Number(length))
        expect(decodePng(bytes)).toMatchObject({ width: 120, height: 80 })
      }
    })

    test('200 each kind as SVG of the same size', async () => {
      for (const kind of KINDS) {
        const answer = await get(`/images/${kind}/33214-120x80.svg`)
        expect(answer.status).toBe(200)
        expect(headersOf(answer)).toMatchObject({
          ...CACHING,
          'content-type': 'image/svg+xml',
          'content-security-policy': "default-src 'none'",
        })
        expect(await answer.text()).toContain(' width="120" height="80" ')
      }
    })

    test('200 the second time from the cache with the same bytes and another request id', async () => {
      const first = await get('/images/users/7-64x64.png')
      const second = await get('/images/users/7-64x64.png')
      expect(await second.bytes()).toEqual(await first.bytes())
      expect(first.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
      expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'))
      expect(second.headers.get('etag')).toBe(first.headers.get('etag'))
    })

    test('200 the smallest and the largest size', async () => {
      for (const [width, height] of [
        [1, 1],
        [2048, 1],
        [1, 2048],
        [2048, 2048],
      ]) {
        const answer = await get(`/images/videos/1-${width}x${height}.png`)
        expect(await sizeOf(answer)).toEqual([width as number, height as number])
      }
    })

    test('200 an id that is nowhere in the store, and one with the most digits', async () => {
      for (const id of ['0', '99999999999999999999', '9007199254740993'])
        expect((await get(`/images/games/${id}-10x10.png`)).status).toBe(200)
    })

    test('200 with a query, a bad token, a Client-Id or a body type: none of them matters', async () => {
      const headers = {
        Authorization: 'Bearer nonsense',
        'Client-Id': 'unknown',
        'Content-Type': 'text/plain',
      }
      expect((await get(`${PATH}?v=2&first=x`, { headers })).status).toBe(200)
    })

    test('200 placeholders that were not replaced give the default size', async () => {
      const spellings = [
        ['{width}x{height}', '%{width}x%{height}'],
        ['%7Bwidth%7Dx%7Bheight%7D', '%7bwidth%7dx%7bheight%7d', '%7Bwidth%7dx%7bheight}'],
        ['%25%7Bwidth%7Dx%25%7Bheight%7D', '%25{width}x%25{height}', '%%7Bwidth%7Dx%%7bheight%7D'],
      ].flat()
      for (const kind of KINDS) {
        for (const size of spellings) {
          const path = `/images/${kind}/5-${size}.svg`
          // The runtime encodes some of these before they are sent, so they are written to the wire as they are.
          const answer = await raw(server().strand.url, request(path, ['Connection: close']))
          expect({ path, status: answer?.status }).toEqual({ path, status: 200 })
          expect(answer?.text).toContain(` width="${DEFAULTS[kind][0]}" height="${DEFAULTS[kind][1]}" `)
        }
        const url = imageUrl(server().url, kind, '5')
        expect(await sizeOf(await fetch(url))).toEqual([...DEFAULTS[kind]])
      }
    })

    test('200 the thumbnail of every live stream, with its placeholders and with a size', async () => {
      const { body } = await server().call({ path: '/helix/streams', query: { first: 100 } })
      expect(body.data.length).toBeGreaterThan(5)
      for (const { thumbnail_url, user_id } of body.data) {
        expect(thumbnail_url).toBe(imageUrl(server().url, 'channels', user_id))
        expect(await sizeOf(await fetch(thumbnail_url))).toEqual([320, 180])
        const sized = thumbnail_url.replace('{width}x{height}', '440x248')
        expect(await sizeOf(await fetch(sized))).toEqual([440, 248])
      }
    })

    test('200 HEAD has the headers of GET and no body', async () => {
      const wire = await Wire.open(server().strand.url)
      await wire.send(request(PATH))
      const got = await wire.answer()
      await wire.send(request(PATH, [], 'HEAD'))
      const headed = await wire.answer({ head: true })
      // A second answer on the connection shows that no body followed.
      await wire.send(request('/healthz'))
      expect((await wire.answer())?.text).toBe('{"status":"ok"}')
      wire.close()
      const comparable = (headers: ReadonlyMap<string, string> | undefined) =>
        [...(headers ?? [])].filter(([name]) => !['date', 'x-request-id'].includes(name)).sort()
      expect([got?.status, headed?.status]).toEqual([200, 200])
      expect(comparable(headed?.headers)).toEqual(comparable(got?.headers))
    })

    test('200 a template and its default size are one entry with one ETag', async () => {
      const template = await get('/images/users/141981764-{width}x{height}.png')
      expect(template.headers.get('etag')).toBe(ETAG)
    })
  })

  describe('304', () => {
    const conditional = (tag: string, path = PATH, method = 'GET') =>
      get(path, { method, headers: { 'If-None-Match': tag } })

    test('304 for the ETag, a weak one, a list with it, and *', async () => {
      for (const tag of [ETAG, `W/${ETAG}`, `"a", W/"b" , ${ETAG}`, `"x",W/${ETAG}`, '*']) {
        for (const method of ['GET', 'HEAD']) {
          const answer = await conditional(tag, PATH, method)
          expect({ tag, status: answer.status }).toEqual({ tag, status: 304 })
          expect(headersOf(answer)).toMatchObject({ ...CACHING, etag: ETAG })
          expect(answer.headers.get('x-request-id')).not.toBeNull()
          expect(await answer.text()).toBe('')
        }
      }
    })

    ofOneProcess('304 without a rendering', async () => {
      const path = '/images/users/88888-2000x2000.png'
      const rendered = async () => (await scrape(server().url)).series.get('strand_images_rendered_total')
      const before = await rendered()
      expect((await conditional(`"${path}-v1"`, path)).status).toBe(304)
      expect(await rendered()).toBe(before)
    })

    test('200 for another ETag: of another size, format, version or picture', async () => {
      for (const tag of [
        ETAG.replace('300x300', '300x301'),
        ETAG.replace('png', 'svg'),
        ETAG.replace('-v1', '-v0'),
        ETAG.replace('141981764', '141981765'),
        ETAG.replaceAll('"', ''),
        `"${ETAG}"`,
        '',
        ',,,',
      ])
        expect({ tag, status: (await conditional(tag)).status }).toEqual({ tag, status: 200 })
    })
  })

  /** An error in the form of D-4. */
  const expectError = async (
    path: string,
    status: number,
    error: string,
    message: string,
    init: RequestInit = {},
  ) => {
    const answer = await get(path, init)
    expect({ path, status: answer.status }).toEqual({ path, status })
    expect(answer.headers.get('content-type')).toBe('application/json')
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('access-control-allow-origin')).toBe('*')
    expect(answer.headers.has('ratelimit-limit')).toBe(false)
    expect(await answer.json()).toEqual({ error, status, message })
  }

  describe('400', () => {
    for (const size of [
      ...['0x10', '10x0', '0x0', '2049x1', '1x2049', '1e3x10', '99999999999x1', '1x99999999999'],
      ...['-5x10', '10x-5', '+5x10', '05x10', '10x010', '1.5x2', '10', 'x', '10x', 'x10', '10x10x10', ''],
      ...[
        '10X10',
        '10%20x10',
        ' 10x10',
        '%31x10',
        'NaNxNaN',
        '0x1Fx1',
        '{width}x10',
        '{width}',
        '{height}x{width}',
      ],
      ...['%257Bwidth%257Dx%257Bheight%257D', '%{width}x{height}', '{WIDTH}x{HEIGHT}', '1'.repeat(5000)],
    ]) {
      test(`400 the size "${size.slice(0, 40)}"`, async () => {
        for (const format of ['png', 'svg'])
          await expectError(`/images/users/1-${size}.${format}`, 400, 'Bad Request', SIZE_MESSAGE)
      })
    }
  })

  describe('404', () => {
    for (const path of [
      ...[
        'users/abc-10x10',
        'users/-10x10',
        'users/1a-10x10',
        'users/+1-10x10',
        'users/%31-10x10',
        'users/1.0-1x1',
      ],
      ...[
        'users/123456789012345678901-10x10',
        `users/${'9'.repeat(9000)}-10x10`,
        'users/1%00-10x10',
        'users/1%2F2-10x10',
      ],
      ...[
        'users/..%2F1-10x10',
        'users/%2e%2e%2f1-10x10',
        'user/1-10x10',
        'Users/1-10x10',
        '1-10x10',
        'users//1-10x10',
      ],
      ...[
        '/users/1-10x10',
        'users/1/10x10',
        'users/1-10x10.png/x',
        'users/1',
        'users/１-10x10',
        'constructor/1-1x1',
      ],
    ]) {
      test(`404 ${path.slice(0, 40)}.png`, () =>
        expectError(`/images/${path}.png`, 404, 'Not Found', NO_SUCH_PATH))
    }

    test('404 other formats, a folder, and what dots lead out of', async () => {
      for (const path of [
        ...[
          '/images/',
          '/images/users',
          '/images/users/',
          '/images/users/1-10x10',
          '/images/users/1-10x10.jpg',
        ],
        ...['/images/users/1-10x10.PNG', '/images/users/1-10x10.png.', '/images/users/1-10x10.gif'],
      ])
        await expectError(path, 404, 'Not Found', NO_SUCH_PATH)
      for (const path of ['/images', '/images/../images', '/images/users/../../1-10x10.png'])
        expect((await get(path)).status).toBe(404)
    })

    test('404 every other method', async () => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
        await expectError(PATH, 404, 'Not Found', NO_SUCH_PATH, { method })
    })
  })

  test('property: any path below /images is answered with 200, 400 or 404', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'users',
        'games',
        '1',
        '-',
        'x',
        '.png',
        '.svg',
        '/',
        '%2f',
        '..',
        '{width}',
        '{height}',
        '%',
        '%7b',
      ),
      fc.integer({ min: -5, max: 5000 }).map(String),
      fc.webSegment(),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 9 }), async pieces => {
        const path = `/images/users/${pieces.join('').replaceAll(/[^\x21-\x7e]/g, '')}`
        const answer = await raw(server().strand.url, request(path, ['Connection: close']))
        expect([200, 400, 404]).toContain(answer?.status ?? 0)
      }),
      { numRuns: runs(150) },
    )
  })

  ofOneProcess('requests are counted as "image", unknown paths as "unknown"', async () => {
    const counts = async () => {
      const { series } = await scrape(server().url)
      const of = (operation: string, status: number) =>
        series.get(`strand_http_requests_total{operation="${operation}",status="${status}"}`) ?? 0
      return [of('image', 200), of('image', 304), of('image', 400), of('unknown', 404)]
    }
    const before = await counts()
    await get(PATH)
    await get(PATH, { method: 'HEAD' })
    await get(PATH, { headers: { 'If-None-Match': '*' } })
    await get('/images/users/1-0x0.png')
    await get('/images/users/x-1x1.png')
    expect((await counts()).map((count, index) => count - (before[index] ?? 0))).toEqual([2, 1, 1, 1])
  })

  test('503 with Retry-After while too many pictures wait, and 200 afterwards', async () => {
    const paths = Array.from({ length: 120 }, (_, id) => `/images/games/${700 + id}-2048x2048.png`)
    const answers = await Promise.all(paths.map(path => get(path)))
    const refused = answers.filter(({ status }) => status === 503)
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(16)
    expect(refused.length).toBeGreaterThan(0)
    for (const answer of refused) {
      expect(answer.headers.get('retry-after')).toBe('1')
      expect(await answer.json()).toEqual({
        error: 'Service Unavailable',
        status: 503,
        message: 'Too many pictures are being rendered; try again in a second.',
      })
    }
    expect((await get(paths.at(-1) as string)).status).toBe(200)
  })
})

onEachStore('pictures with limits', { config: { rateLimits: { app: 5, user: 5, anonymous: 5 } } }, server => {
  test('200 pictures take no point', async () => {
    for (let count = 0; count < 20; count++)
      expect((await fetch(`${server().url}/images/users/${count}-8x8.png`)).status).toBe(200)
    expect((await server().call({ path: '/helix/streams' })).status).toBe(200)
  })
})

onEachStore(
  'pictures and the listener of operators',
  { config: { operatorListen: { host: '127.0.0.1', port: 0 } } },
  server => {
    test('200 on the public listener, 404 on the other', async () => {
      const operatorUrl = server().strand.controlUrl.replace(/\/control$/, '')
      expect((await fetch(server().strand.url + PATH)).status).toBe(200)
      expect((await fetch(operatorUrl + PATH)).status).toBe(404)
    })
  },
)
