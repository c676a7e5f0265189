/** Which addresses webhooks may go to, and that the checked address is the one that is connected to. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:net'
import fc from 'fast-check'
import { isPublicAddress } from '../../src/events/callback-address.ts'
import {
  type Resolved,
  SEND_RULES,
  WebhookSender,
  type WebhookSenderOptions,
} from '../../src/events/webhook-sender.ts'

/** The first and last address of each special network of IPv4, and addresses of those of IPv6. */
const SPECIAL = `
0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.0 127.0.0.1 127.255.255.255
169.254.0.0 169.254.169.254 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.192 192.0.0.255
192.0.2.0 192.0.2.255 192.88.99.0 192.88.99.255 192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255
198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.254 255.255.255.255
100.100.100.200 168.63.129.16
:: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:7f00:1 64:ff9b::127.0.0.1 64:ff9b::8.8.8.8 64:ff9b:1::1 100::1
2001::1 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1:: 2002:808:808::1 3fff::1 fc00::1 fd00:ec2::254
fdff:ffff::1 fe80::1 febf::1 fec0::1 ff02::1 ff0e::1 5f00::1 4000::1 fe80::1%eth0 2606:4700::1111%eth0`
  .split(/\s+/)
  .filter(Boolean)

/** The addresses before and after each special network of IPv4, and others. */
const PUBLIC =
  `1.0.0.0 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0
192.0.1.255 192.0.3.0 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0
198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255
2606:4700::1111 2001:4860:4860::8888 2a00:1450:4001:80b::200e 2003::1 2400:cb00::1`
    .split(/\s+/)
    .filter(Boolean)

test('special addresses are refused and their neighbours are not', () => {
  expect(SPECIAL.filter(isPublicAddress)).toEqual([])
  expect(PUBLIC.filter(address => !isPublicAddress(address))).toEqual([])
})

test('no IPv4 address is allowed in a form of IPv6 that contains it', () => {
  const forms = (a: number, b: number, c: number, d: number) => {
    const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
    const dotted = `${a}.${b}.${c}.${d}`
    return [
      `::ffff:${hex}`,
      `::ffff:${dotted}`,
      `::${hex}`,
      `64:ff9b::${hex}`,
      `2002:${hex}::1`,
      `2001:0:${hex}::1`,
    ]
  }
  const byte = fc.integer({ min: 0, max: 255 })
  fc.assert(
    fc.property(byte, byte, byte, byte, (...bytes) =>
      expect(forms(...bytes).filter(isPublicAddress)).toEqual([]),
    ),
  )
})

test('text that is no address is refused', () => {
  fc.assert(
    fc.property(
      fc.string(),
      text => !isPublicAddress(text) || PUBLIC.includes(text) || /^[0-9a-f.:]+$/i.test(text),
    ),
  )
  for (const text of ['', 'localhost', '1.1.1', '1.1.1.1.1', '01.1.1.1', '[2606:4700::1111]', ' 1.1.1.1'])
    expect(isPublicAddress(text)).toBe(false)
})

describe('a canary on loopback', () => {
  let canary: Server
  let port = 0
  let connections = 0
  beforeAll(async () => {
    canary = createServer(socket => {
      connections += 1
      socket.destroy()
    })
    await new Promise<void>(resolve => canary.listen(0, '127.0.0.1', resolve))
    port = (canary.address() as { port: number }).port
  })
  afterAll(() => canary.close())

  const strict = (more: Partial<WebhookSenderOptions> = {}): WebhookSenderOptions => ({
    rule: SEND_RULES.public,
    milliseconds: 3000,
    ...more,
  })
  const send = (callback: string, options = strict()) =>
    new WebhookSender(options).send({ callback, headers: {}, body: '{}', readsAnswer: false })

  const hosts =
    `127.0.0.1 127.1 127.0.1 0x7f.1 0x7f000001 2130706433 017700000001 0177.0.0.1 127.000.000.001 0 0.0.0.0
localhost localhost. LOCALHOST foo.localhost [::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1]
[::127.0.0.1] [64:ff9b::7f00:1] [2002:7f00:1::] [fe80::1] [fd00:ec2::254] [ff02::1] [2001:db8::1] 10.0.0.1 10.1 172.16.0.1
172.31.255.254 192.168.0.1 192.168.1 169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376 100.100.100.200 100.64.0.1
192.0.0.192 198.18.0.1 203.0.113.9 224.0.0.1 255.255.255.255 240.0.0.1 168.63.129.16 127.0.0.1. ①②⑦.⓪.⓪.① 127。0。0。1
１２７.0.0.1 [::ffff:a9fe:a9fe] [::ffff:10.0.0.1] [100::1] [3fff::1] [fec0::1] [2001::1]`
      .split(/\s+/)
      .filter(Boolean)

  test('60 spellings of inner addresses in a callback open no connection', async () => {
    // With the port of the canary, so that a connection would reach it.
    const anyPort = { ...SEND_RULES.public, allowsUrl: () => true }
    const urls = hosts.flatMap(host => [`https://${host}/`, `http://${host}:${port}/x`])
    expect(urls.length).toBeGreaterThanOrEqual(60)
    for (const url of urls) {
      if (!URL.canParse(url)) continue
      const answer = await send(url, strict({ rule: anyPort }))
      expect([url, answer.status]).toEqual([url, undefined])
      expect(answer).toEqual({ failure: expect.stringMatching(/not public|ENOTFOUND|no address/) })
    }
    expect(connections).toBe(0)
    await send(`http://2130706433:${port}/`, strict({ rule: SEND_RULES.any }))
    expect(connections).toBe(1)
    connections = 0
  })

  test('another scheme or port is refused before anything is resolved', async () => {
    let resolved = 0
    const resolve = async () => {
      resolved += 1
      return [{ address: '127.0.0.1', family: 4 }]
    }
    for (const url of [`http://example.org/`, `https://example.org:${port}/`, `http://127.0.0.1:${port}/`])
      expect(await send(url, strict({ resolve }))).toEqual({
        failure: 'the callback is not https on port 443',
      })
    expect([resolved, connections]).toEqual([0, 0])
  })

  test('a name with any inner address among public ones is refused', async () => {
    const answers: Resolved[][] = [
      [
        { address: '93.184.216.34', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
      [{ address: '127.0.0.1', family: 4 }],
      [
        { address: '2606:4700::1111', family: 6 },
        { address: '::1', family: 6 },
      ],
      [
        { address: '93.184.216.34', family: 4 },
        { address: '::ffff:127.0.0.1', family: 6 },
      ],
    ]
    for (const addresses of answers)
      expect(await send('https://rebind.example/', strict({ resolve: async () => addresses }))).toEqual({
        failure: 'the address of the callback is not public',
      })
    expect(connections).toBe(0)
  })

  test('a name that resolves to another address the second time is resolved once', async () => {
    // No public address answers in a test, so the first answer is one on loopback where nothing listens.
    const answers = ['127.0.0.2', '127.0.0.1']
    let asked = 0
    const resolve = async () => [{ address: answers[asked++] ?? '127.0.0.1', family: 4 }]
    const answer = await send(`http://rebind.example:${port}/`, strict({ rule: SEND_RULES.any, resolve }))
    expect(answer.status).toBeUndefined()
    expect([asked, connections]).toEqual([1, 0])
  })
})
