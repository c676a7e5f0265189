/** One request to a receiver that is not to be trusted. */
import { afterAll, describe, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import {
  SEND_RULES,
  type WebhookRequest,
  WebhookSender,
  type WebhookSenderOptions,
} from '../../src/events/webhook-sender.ts'
import { CertificateAuthority } from '../support/server/certificate.ts'
import { until } from './receiver.ts'

/** For an answer that comes, however busy the machine is, and for one that is to be late. */
const PATIENCE = 30_000
const LIMIT = 500
const servers: Server[] = []
afterAll(() => {
  for (const server of servers) server.close()
})

async function listen(server: Server): Promise<number> {
  servers.push(server)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as { port: number }).port
}

/** A server that speaks to each connection as it likes. `closed` is resolved when the client has gone. */
async function rawServer(speak: (socket: Socket) => void) {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const port = await listen(
    createServer(socket => {
      socket.on('error', () => undefined)
      socket.on('close', () => resolve())
      socket.once('data', () => speak(socket))
    }),
  )
  return { url: `http://127.0.0.1:${port}/hook`, closed }
}

const any: WebhookSenderOptions = { rule: SEND_RULES.any, milliseconds: PATIENCE }
const hasty: WebhookSenderOptions = { ...any, milliseconds: LIMIT }
const expectLate = { failure: `no answer within ${LIMIT / 1000} s` }
const send = (callback: string, more: Partial<WebhookRequest> = {}, options = any) =>
  new WebhookSender(options).send({
    callback,
    headers: { 'X-One': '1' },
    body: '{"a":"ä"}',
    readsAnswer: false,
    ...more,
  })

/** Writes for ever, as fast as the client reads. */
function flood(socket: Socket, piece: string | Uint8Array): void {
  const write = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', write)
  write()
}

/** Writes a byte now and then. */
function drip(socket: Socket): void {
  const timer = setInterval(() => socket.write('a'), 100)
  socket.on('close', () => clearInterval(timer))
}

describe('a request', () => {
  test('has the method, the path with its query, the host, the headers and the body', async () => {
    let seen = ''
    const port = await listen(
      createServer(socket => {
        socket.on('data', piece => {
          seen += piece
          if (seen.includes('ä"}')) socket.end('HTTP/1.1 204 No Content\r\n\r\n')
        })
      }),
    )
    expect(await send(`http://localhost:${port}/hook?a=b%20c`)).toEqual({ status: 204, body: '' })
    expect(seen).toStartWith('POST /hook?a=b%20c HTTP/1.1\r\n')
    const headers = seen.toLowerCase()
    for (const line of [
      'x-one: 1',
      `host: localhost:${port}`,
      'content-length: 10',
      'connection: keep-alive',
    ])
      expect(headers).toContain(`\r\n${line}\r\n`)
    expect(headers).toContain('\r\naccept-encoding: identity\r\n')
    expect(headers).not.toContain('transfer-encoding')
  })

  test('with a line break in a header is not sent', async () => {
    const { url } = await rawServer(socket => socket.end('HTTP/1.1 204 No Content\r\n\r\n'))
    const headers = { 'X-One': '1\r\nX-Two: 2' }
    expect(await send(url, { headers })).toEqual({ failure: 'the header X-One has a line break' })
  })

  test('ignores the proxy settings of the environment', async () => {
    const { url } = await rawServer(socket => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
    const before = process.env.http_proxy
    process.env.http_proxy = 'http://127.0.0.1:9'
    try {
      expect(await send(url)).toEqual({ status: 200, body: '' })
    } finally {
      if (before === undefined) delete process.env.http_proxy
      else process.env.http_proxy = before
    }
  })
})

describe('a connection', () => {
  /** Counts connections, and answers every request on them. */
  async function keepingServer(answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok') {
    const sockets = new Set<Socket>()
    const seen = { connections: 0, requests: 0, closed: 0 }
    const port = await listen(
      createServer(socket => {
        seen.connections += 1
        sockets.add(socket)
        socket.on('error', () => undefined)
        socket.on('close', () => {
          seen.closed += 1
          sockets.delete(socket)
        })
        socket.on('data', () => {
          seen.requests += 1
          socket.write(answer)
        })
      }),
    )
    return { port, seen, sockets }
  }
  const request = (callback: string) => ({ callback, headers: {}, body: '{}', readsAnswer: false })

  test('is kept for the next request to the same host, at the address that was checked', async () => {
    const { port, seen } = await keepingServer()
    let lookups = 0
    const sender = new WebhookSender({
      ...any,
      resolve: async () => {
        lookups += 1
        return [{ address: '127.0.0.1', family: 4 }]
      },
    })
    for (let n = 0; n < 3; n++)
      expect(await sender.send(request(`http://one.test:${port}/${n}`))).toEqual({ status: 200, body: '' })
    expect([seen.connections, lookups]).toEqual([1, 1])
    await sender.send(request(`http://two.test:${port}/`))
    expect([seen.connections, lookups]).toEqual([2, 2])
    sender.close()
    await until(() => seen.closed === 2)
  })

  test('that the receiver has closed is replaced, and the request is sent', async () => {
    const { port, seen, sockets } = await keepingServer()
    const sender = new WebhookSender(any)
    for (let n = 0; n < 3; n++) {
      expect(await sender.send(request(`http://127.0.0.1:${port}/`))).toEqual({ status: 200, body: '' })
      for (const socket of sockets) socket.destroy()
    }
    expect(seen.connections).toBe(3)
    sender.close()
  })

  test('is kept after chunks, and closed where the answer asks for that or does not end by itself', async () => {
    const rest: [string, number][] = [
      [
        'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
        1,
      ],
      ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok', 3],
      ['HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', 3],
      // Another answer without a request would be that to the next one.
      ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n', 3],
    ]
    for (const [answer, connections] of rest) {
      const { port, seen } = await keepingServer(answer)
      const sender = new WebhookSender(any)
      for (let n = 0; n < 3; n++)
        expect(await sender.send(request(`http://127.0.0.1:${port}/`))).toEqual({ status: 200, body: '' })
      expect([answer, seen.connections, seen.requests]).toEqual([answer, connections, 3])
      sender.close()
      await until(() => seen.closed === connections)
    }
  })

  test('has one request at a time', async () => {
    const { port, seen } = await keepingServer()
    const sender = new WebhookSender(any)
    const sendFive = () =>
      Promise.all(Array.from({ length: 5 }, () => sender.send(request(`http://127.0.0.1:${port}/`))))
    for (let n = 0; n < 3; n++) expect(await sendFive()).toEqual(Array(5).fill({ status: 200, body: '' }))
    expect([seen.connections, seen.requests]).toEqual([5, 15])
    sender.close()
  })

  test('is not used again if the receiver answered without reading the request', async () => {
    const sockets: Socket[] = []
    const port = await listen(
      createServer(socket => {
        sockets.push(socket)
        socket.on('error', () => undefined)
        socket.pause()
        socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n')
      }),
    )
    const sender = new WebhookSender(any)
    const body = 'a'.repeat(30_000_000)
    for (let n = 0; n < 2; n++) {
      const answer = await sender.send({ ...request(`http://127.0.0.1:${port}/`), body })
      expect(answer).toEqual({ status: 413, body: '' })
    }
    expect(sockets.length).toBe(2)
    for (const socket of sockets) socket.destroy()
    sender.close()
  })

  test('is closed at the end of its request if the sender was closed meanwhile', async () => {
    const { port, seen } = await keepingServer()
    const sender = new WebhookSender(any)
    const sent = sender.send(request(`http://127.0.0.1:${port}/`))
    sender.close()
    expect(await sent).toEqual({ status: 200, body: '' })
    await until(() => seen.closed === 1)
  })

  test('whose next request is not answered in time is dropped, and nothing is sent again', async () => {
    let requests = 0
    const { promise: dropped, resolve } = Promise.withResolvers<void>()
    let connections = 0
    const port = await listen(
      createServer(socket => {
        connections += 1
        socket.on('error', () => undefined)
        socket.on('close', resolve)
        socket.on('data', () => {
          requests += 1
          if (requests === 1) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
        })
      }),
    )
    const sender = new WebhookSender(hasty)
    expect(await sender.send(request(`http://127.0.0.1:${port}/`))).toEqual({ status: 200, body: '' })
    expect(await sender.send(request(`http://127.0.0.1:${port}/`))).toEqual(expectLate)
    await dropped
    // A second request would be sent at once.
    await Bun.sleep(100)
    expect([connections, requests]).toEqual([1, 2])
    sender.close()
  })

  test('has longer than four seconds for an answer, also when it is kept', async () => {
    let requests = 0
    let connections = 0
    const port = await listen(
      createServer(socket => {
        connections += 1
        socket.on('error', () => undefined)
        socket.on('data', () => {
          requests += 1
          const answer = () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
          if (requests % 2 === 1) answer()
          else setTimeout(answer, 5000)
        })
      }),
    )
    const sender = new WebhookSender(any)
    for (let n = 0; n < 3; n++)
      expect(await sender.send(request(`http://127.0.0.1:${port}/`))).toEqual({ status: 200, body: '' })
    expect([connections, requests]).toEqual([1, 3])
    sender.close()
  }, 20_000)

  test('is still open a second after an answer, and a body that came late does not close it', async () => {
    const { port, seen } = await keepingServer()
    const sender = new WebhookSender(any)
    await sender.send(request(`http://127.0.0.1:${port}/`))
    await Bun.sleep(1500)
    await sender.send(request(`http://127.0.0.1:${port}/`))
    expect([seen.connections, seen.closed]).toEqual([1, 0])
    sender.close()
  })

  test('is closed after four idle seconds', async () => {
    const { port, seen } = await keepingServer()
    const sender = new WebhookSender(any)
    await sender.send(request(`http://127.0.0.1:${port}/`))
    expect(seen.closed).toBe(0)
    await until(() => seen.closed === 1)
  }, 20_000)

  test('at most 256 are idle', async () => {
    const { port, seen } = await keepingServer()
    const address = [{ address: '127.0.0.1', family: 4 }]
    const sender = new WebhookSender({ ...any, resolve: async () => address })
    const hosts = Array.from({ length: 300 }, (_, n) => `http://h${n}.test:${port}/`)
    await Promise.all(hosts.map(host => sender.send(request(host))))
    await until(() => seen.closed >= 44)
    expect(seen.connections - seen.closed).toBeLessThanOrEqual(256)
    sender.close()
  })

  test('is not opened to an address that the rule does not allow, by name or by number', async () => {
    const { port, seen } = await keepingServer()
    const rule = { allowsUrl: () => true, allowsAddress: () => false }
    const sender = new WebhookSender({ ...any, rule })
    for (const host of ['localhost', '127.0.0.1', '127.1', '[::1]', '[::ffff:127.0.0.1]'])
      expect([host, await sender.send(request(`http://${host}:${port}/`))]).toEqual([
        host,
        { failure: 'the address of the callback is not public' },
      ])
    expect(seen.connections).toBe(0)
  })

  test('on which a receiver continues sending is not a way to fill the memory', async () => {
    const { port, sockets } = await keepingServer()
    const sender = new WebhookSender(any)
    await sender.send(request(`http://127.0.0.1:${port}/`))
    const [socket] = sockets
    const before = process.memoryUsage().rss
    let written = 0
    const piece = Buffer.alloc(1 << 16, 'x')
    const { promise: refused, resolve } = Promise.withResolvers<void>()
    socket?.on('close', resolve)
    const write = () => {
      while (socket !== undefined && !socket.destroyed && written < 200 * piece.length) {
        written += piece.length
        if (!socket.write(piece)) return
      }
    }
    socket?.on('drain', write)
    write()
    await refused
    expect(process.memoryUsage().rss - before).toBeLessThan(100 << 20)
    expect(await sender.send(request(`http://127.0.0.1:${port}/`))).toEqual({ status: 200, body: '' })
    sender.close()
  }, 20_000)
})

describe('a hostile answer', () => {
  const cases: [string, (socket: Socket) => void, object, WebhookSenderOptions?][] = [
    ['no answer', () => undefined, expectLate, hasty],
    ['a closed connection', socket => socket.destroy(), { failure: 'ECONNRESET' }],
    ['no HTTP', socket => socket.write('220 smtp ready\r\n'), { failure: 'the answer is not valid HTTP' }],
    [
      'endless headers',
      socket => {
        socket.write('HTTP/1.1 200 OK\r\n')
        flood(socket, `X-More: ${'a'.repeat(1000)}\r\n`)
      },
      { failure: 'the head of the answer has more than 16384 bytes' },
    ],
    [
      'headers of a byte at a time',
      socket => {
        socket.write('HTTP/1.1 200 OK\r\nX-Slow: ')
        drip(socket)
      },
      expectLate,
      hasty,
    ],
    [
      'informational answers for ever',
      socket => flood(socket, 'HTTP/1.1 100 Continue\r\n\r\n'),
      { failure: 'too many informational answers' },
    ],
    [
      'a redirect',
      socket => socket.end('HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n'),
      { status: 302, body: '' },
    ],
  ]
  for (const [title, speak, expected, poster] of cases) {
    test(`${title} ends the request, and the connection is dropped`, async () => {
      const { url, closed } = await rawServer(speak)
      expect(await send(url, { readsAnswer: true }, poster)).toEqual(expected as never)
      await closed
    })
  }

  test('an endless body counts by its status and is dropped after 8 KiB', async () => {
    const endless = (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      flood(socket, new Uint8Array(64 * 1024))
    }
    const before = process.memoryUsage().rss
    const one = await rawServer(endless)
    expect(await send(one.url)).toEqual({ status: 200, body: '' })
    await one.closed
    const other = await rawServer(endless)
    expect(await send(other.url, { readsAnswer: true })).toEqual({
      failure: 'the answer has more than 8192 bytes',
    })
    await other.closed
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000)
  })

  test('a body of a byte at a time counts by its status, or is too late if it is needed', async () => {
    const slow = (socket: Socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n')
      drip(socket)
    }
    const one = await rawServer(slow)
    expect(await send(one.url)).toEqual({ status: 200, body: '' })
    await one.closed
    const other = await rawServer(slow)
    expect(await send(other.url, { readsAnswer: true }, hasty)).toEqual(expectLate)
    await other.closed
  })

  test('a body that is cut off counts by its status, or is a failure if it is needed', async () => {
    for (const framing of ['Content-Length: 10\r\n\r\na', 'Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n']) {
      const { url } = await rawServer(socket => socket.end(`HTTP/1.1 200 OK\r\n${framing}`))
      expect(await send(url)).toEqual({ status: 200, body: '' })
      expect(await send(url, { readsAnswer: true })).toEqual({ failure: 'ECONNRESET' })
    }
  })

  test('a body without a length ends with the connection', async () => {
    const { url } = await rawServer(socket => socket.end('HTTP/1.1 200 OK\r\n\r\nsome text'))
    expect(await send(url, { readsAnswer: true })).toEqual({ status: 200, body: 'some text' })
  })

  test('a compressed body is not decompressed', async () => {
    const bomb = Bun.gzipSync(new Uint8Array(4_000_000))
    expect(bomb.length).toBeLessThan(8192)
    const { url } = await rawServer(socket => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`)
      socket.end(bomb)
    })
    const answer = await send(url, { readsAnswer: true })
    expect(answer.status === 200 && answer.body.length).toBeLessThan(8192)
  })
})

describe('a name', () => {
  test('that is not resolved, or not in time, is a failure', async () => {
    const failing = {
      ...any,
      resolve: () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })),
    }
    expect(await send('http://nowhere.example/', {}, failing)).toEqual({ failure: 'ENOTFOUND' })
    const hanging = { ...hasty, resolve: () => new Promise<never>(() => undefined) }
    expect(await send('http://slow.example/', {}, hanging)).toEqual(expectLate)
    const empty = { ...any, resolve: async () => [] }
    expect(await send('http://empty.example/', {}, empty)).toEqual({
      failure: 'the name of the host has no address',
    })
  })

  test('with an address that refuses the connection is tried at the next', async () => {
    const { url } = await rawServer(socket => socket.end('HTTP/1.1 204 No Content\r\n\r\n'))
    const addresses = ['127.0.0.3', '127.0.0.1'].map(address => ({ address, family: 4 }))
    const poster = { ...any, resolve: async () => addresses }
    const callback = url.replace('127.0.0.1', 'two.example')
    expect(await send(callback, {}, poster)).toEqual({ status: 204, body: '' })
  })
})

describe('TLS', () => {
  const authority = new CertificateAuthority()
  const name = 'hooks.example'
  const names: (string | false | null)[] = []
  const start = (certified = authority.issue(name)) =>
    listen(
      createTlsServer(certified, socket => {
        names.push(socket.servername)
        socket.on('error', () => undefined)
        socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'))
      }),
    )
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]

  test('the certificate is checked against the name, with an authority that a setting adds', async () => {
    const port = await start()
    const trusting = { ...any, resolve, authority: authority.cert }
    expect(await send(`https://${name}:${port}/`, {}, trusting)).toEqual({ status: 204, body: '' })
    expect(names.at(-1)).toBe(name)
  })

  test('an unknown authority, and a certificate for another name, are failures', async () => {
    const port = await start()
    const unknown = await send(`https://${name}:${port}/`, {}, { ...any, resolve })
    expect(unknown.status).toBeUndefined()
    const trusting = { ...any, resolve, authority: authority.cert }
    const other = await send(`https://other.example:${port}/`, {}, trusting)
    expect(other).toEqual({ failure: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    const foreign = { ...any, resolve, authority: new CertificateAuthority('Another').cert }
    expect((await send(`https://${name}:${port}/`, {}, foreign)).status).toBeUndefined()
  })

  test('nothing is sent to a receiver whose certificate is not valid for the name', async () => {
    let received = ''
    const port = await listen(
      createTlsServer(authority.issue('localhost'), socket => {
        socket.on('error', () => undefined)
        socket.on('data', piece => {
          received += piece
          socket.end('HTTP/1.1 204 No Content\r\n\r\n')
        })
      }),
    )
    const trusting = { ...any, resolve, authority: authority.cert }
    const refused = await send(`https://${name}:${port}/one`, {}, trusting)
    expect(refused).toEqual({ failure: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    const sent = await send(`https://localhost:${port}/two`, {}, trusting)
    expect(sent).toEqual({ status: 204, body: '' })
    expect(received).toStartWith('POST /two ')
  })

  test('a connection is kept, for the same name only', async () => {
    let connections = 0
    const port = await listen(
      createTlsServer(authority.issue(name), socket => {
        connections += 1
        socket.on('error', () => undefined)
        socket.on('data', () => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
      }),
    )
    const sender = new WebhookSender({ ...any, resolve, authority: authority.cert })
    const sendTo = (host: string) =>
      sender.send({ callback: `https://${host}:${port}/`, headers: {}, body: '{}', readsAnswer: false })
    for (let n = 0; n < 3; n++) expect(await sendTo(name)).toEqual({ status: 204, body: '' })
    expect(connections).toBe(1)
    expect(await sendTo('other.example')).toEqual({ failure: 'ERR_TLS_CERT_ALTNAME_INVALID' })
    sender.close()
  })
})
