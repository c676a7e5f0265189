/** Limits of the RTMP listener (D-126), with an ingest that needs no store. */
import { afterEach, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { createLog } from '../../src/kit/telemetry/log.ts'
import type { MediaMessage } from '../../src/media/rtmp/publisher.ts'
import { type RtmpOptions, RtmpServer } from '../../src/media/rtmp-server.ts'
import { AVC } from '../support/media/codecs.ts'
import { closedAfter, INCOMPLETE } from '../support/media/rtmp-attacks.ts'
import { RtmpClient } from '../support/media/rtmp-client.ts'
import { commandOf, conversation } from '../support/media/rtmp-mutations.ts'

const MEBIBYTE = 1024 * 1024
/** Per network, and in total. */
const [PER_NETWORK, TOTAL] = [50, 1000]

/** Accepts every key but `wrong`, when it is let. */
class Grants {
  readonly messages: MediaMessage[] = []
  opened = 0
  ended = 0
  bytes = 0
  gate: Promise<void> = Promise.resolve()

  async authorize({ name }: { readonly name: string }) {
    await this.gate
    if (name === 'wrong') return undefined
    this.opened += 1
    return {
      media: (message: MediaMessage) => {
        this.bytes += message.payload.length
        if (this.messages.length < 1000) this.messages.push(message)
      },
      end: () => {
        this.ended += 1
      },
    }
  }
}

let server: RtmpServer | undefined
const clients: { close(): void }[] = []
afterEach(() => {
  for (const client of clients.splice(0)) client.close()
  server?.stop()
})

function listen(options: Partial<RtmpOptions> = {}): Grants {
  const grants = new Grants()
  const log = createLog({ level: 'error', readable: false, write: () => undefined })
  server = new RtmpServer({ hostname: '127.0.0.1', port: 0, ingest: grants, log, ...options })
  return grants
}
const port = () => server?.port ?? 0

async function open(localAddress?: string): Promise<RtmpClient> {
  const client = await RtmpClient.connect(port(), localAddress)
  clients.push(client)
  return client
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await Bun.sleep(5)
}

describe('a connection that does not publish', () => {
  test('is closed at its deadline, whatever it sent', async () => {
    listen({ publishSeconds: 0.3 })
    const took = await Promise.all(
      Object.entries(INCOMPLETE).map(async ([name, bytes]) => ({
        name,
        ms: await closedAfter(port(), bytes),
      })),
    )
    expect(took.filter(({ ms }) => ms < 290 || ms > 5000)).toEqual([])
  })

  test('is closed at its deadline even if it sends a byte now and then', async () => {
    listen({ publishSeconds: 0.3 })
    const client = await open()
    const opened = performance.now()
    const timer = setInterval(() => client.send(Buffer.from([3])), 20)
    await client.closed()
    clearInterval(timer)
    expect(performance.now() - opened).toBeWithin(250, 5000)
  })

  test('has the deadline again after a broadcast, and is one of those that wait', async () => {
    const grants = listen({ publishSeconds: 0.3 })
    const client = await open()
    await client.publish('key')
    await Bun.sleep(500)
    expect(client.isClosed).toBe(false)
    client.command(1, 'deleteStream', 4, null, 1)
    await client.closed()
    expect([grants.opened, grants.ended]).toEqual([1, 1])
  })

  test(`is refused beside ${PER_NETWORK} of its address, not of others, and not once one has gone`, async () => {
    const grants = listen()
    const idle: RtmpClient[] = []
    for (let count = 0; count < PER_NETWORK; count++) idle.push(await open())
    const refused = await open()
    await refused.closed()
    expect(idle.some(({ isClosed }) => isClosed)).toBe(false)
    expect(await (await open('127.0.0.2')).publish('key')).toBe('NetStream.Publish.Start')
    idle[0]?.close()
    await until(() => idle[0]?.isClosed === true)
    // The server may see the end later than the client.
    let code: string | undefined
    while (code === undefined) code = await (await open()).publish('key')
    expect([code, grants.opened]).toEqual(['NetStream.Publish.Start', 2])
  })

  test(`makes room as the oldest of ${TOTAL}, so that a publisher gets in`, async () => {
    const grants = listen()
    const idle: RtmpClient[] = []
    for (let network = 0; network < TOTAL / PER_NETWORK; network++)
      idle.push(
        ...(await Promise.all(Array.from({ length: PER_NETWORK }, () => open(`127.0.1.${network + 1}`)))),
      )
    expect(idle.some(({ isClosed }) => isClosed)).toBe(false)
    expect(await (await open('127.0.2.1')).publish('key')).toBe('NetStream.Publish.Start')
    await until(() => idle.some(({ isClosed }) => isClosed))
    expect(idle.filter(({ isClosed }) => isClosed)).toHaveLength(1)
    expect(grants.opened).toBe(1)
  })

  test('through a proxy has no limit per address, because all come from it', async () => {
    listen({ isProxy: address => address === '127.0.0.1' })
    const idle = await Promise.all(Array.from({ length: 2 * PER_NETWORK }, () => open()))
    expect(await (await open()).publish('key')).toBe('NetStream.Publish.Start')
    expect(idle.some(({ isClosed }) => isClosed)).toBe(false)
  })
})

describe('a publisher', () => {
  test('that stops before the answer is closed, and what it may publish ends', async () => {
    const grants = listen()
    const { promise, resolve } = Promise.withResolvers<void>()
    grants.gate = promise
    const client = await open()
    const stop = [commandOf(1, 'FCUnpublish', 6, null), commandOf(1, 'publish', 7, null, 'other', 'live')]
    client.send(Buffer.concat([...conversation('key').slice(0, 8), ...stop]))
    await client.closed()
    resolve()
    await until(() => grants.ended === 1)
    expect(grants.opened).toBe(1)
  })

  test('that sends media before the answer, or without a key, has none accepted', async () => {
    const grants = listen()
    for (const name of ['key', 'wrong']) {
      const { promise, resolve } = Promise.withResolvers<void>()
      grants.gate = promise
      const client = await open()
      client.send(Buffer.concat(conversation(name).slice(0, -2)))
      await Bun.sleep(50)
      resolve()
      if (name === 'wrong') await client.closed()
      else await until(() => grants.opened === 1)
    }
    expect(grants.messages).toEqual([])
  })

  test('that reads no answers is closed', async () => {
    const grants = listen()
    const client = await open()
    await client.publish('key')
    client.stopReading()
    const commands = Buffer.concat(Array.from({ length: 2000 }, () => commandOf(0, 'createStream', 2, null)))
    while (grants.ended === 0) {
      client.send(commands)
      await Bun.sleep(1)
    }
    expect([grants.opened, grants.ended]).toEqual([1, 1])
  })

  test('is read no faster than its limit, however fast it sends, and is not disconnected', async () => {
    const grants = listen()
    const client = await open()
    await client.publish('key')
    const began = performance.now()
    for (let sent = 0; sent < 60; sent++) client.video(sent, AVC.keyFrame(MEBIBYTE))
    await until(() => grants.bytes > 44 * MEBIBYTE)
    const seconds = (performance.now() - began) / 1000
    // 32 MiB at once, the other 12 at 100 Mbit/s.
    expect(seconds).toBeGreaterThan(0.8)
    expect(client.isClosed).toBe(false)
  })

  test('that sends millions of tiny messages is read slowly', async () => {
    const grants = listen()
    const client = await open()
    await client.publish('key')
    // Format 3 repeats the header, so that a message takes two bytes.
    client.send(Buffer.from([6, 0, 0, 0, 0, 0, 1, 9, 1, 0, 0, 0, 0x27]))
    client.send(Buffer.alloc(2 * MEBIBYTE).fill(Buffer.from([0xc6, 0x27])))
    await until(() => grants.bytes > 100_000)
    await Bun.sleep(300)
    expect(grants.bytes).toBeLessThan(500_000)
  })

  test('has its messages without content ignored', async () => {
    const grants = listen()
    const client = await open()
    await client.publish('key')
    client.send(Buffer.concat([Buffer.from([6, 0, 0, 0, 0, 0, 0, 9, 1, 0, 0, 0]), Buffer.alloc(1000, 0xc6)]))
    client.audio(1, Buffer.from([0xaf, 1]))
    await until(() => grants.messages.length > 0)
    expect(grants.messages.map(({ kind }) => kind)).toEqual(['audio'])
  })
})

test('a listener that is flooded with connections answers the next one', async () => {
  listen()
  const sockets = Array.from({ length: 500 }, () => connect(port(), '127.0.0.1').on('error', () => undefined))
  await until(
    () => sockets.filter(({ destroyed, readyState }) => destroyed || readyState === 'closed').length >= 400,
  )
  expect(await (await open('127.0.0.3')).publish('key')).toBe('NetStream.Publish.Start')
  for (const socket of sockets) socket.destroy()
})
