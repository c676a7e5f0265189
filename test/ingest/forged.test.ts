/** Forged callbacks: refused, or without effect, and in no log. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { type Fields, formOf, PUBLISH, type Reported, replaced } from '../support/media/forged-callbacks.ts'
import { onEachStore } from '../support/server/each-store.ts'

const config = { reconnectGraceSeconds: 60 }
type Adapter = keyof typeof PUBLISH
const ADAPTERS = Object.keys(PUBLISH) as Adapter[]
const FORM = 'application/x-www-form-urlencoded'

interface Channel extends Reported {
  readonly id: string
}

onEachStore('forged callbacks', { config }, (current, engine) => {
  const secrets = new Map<string, string>()
  let channels = 0
  let addresses = 0
  /** Wrong keys count against their address. */
  const newAddress = () => `192.0.${addresses >> 8}.${addresses++ & 255}`
  const add = async (name: string, adapter: Adapter) => {
    const [{ secret }] = await current().control('PUT', `/media-servers/${name}`, { adapter })
    secrets.set(name, secret)
  }
  beforeAll(async () => {
    for (const adapter of ADAPTERS) {
      await add(`a-${adapter}`, adapter)
      await add(`b-${adapter}`, adapter)
    }
    // Secrets are read every second; what follows uses up the look-ups of unknown ones.
    await Bun.sleep(1200)
  })
  const secretOf = (name: string) => secrets.get(name) ?? ''
  const newChannel = async (): Promise<Channel> => {
    const login = `forged_${engine}_${++channels}`
    const [{ id }] = await current().control('POST', '/users', { login })
    const [{ stream_key: key }] = await current().control('POST', `/channels/${id}/stream-key/rotate`, {})
    return { id, login, key, session: `${channels}`, address: newAddress() }
  }
  const bodyOf = (adapter: Adapter, fields: Fields): [type: string, body: string] =>
    adapter === 'nginx-rtmp'
      ? [FORM, formOf(fields).toString()]
      : ['application/json', JSON.stringify(fields)]
  const post = (
    path: string,
    body: string | Uint8Array<ArrayBuffer> | ReadableStream,
    type: string,
    headers: Record<string, string> = {},
  ) =>
    fetch(`${current().url}/ingest/${path}`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': type, ...headers },
      redirect: 'manual',
    })
  const send = async (
    adapter: Adapter,
    fields: Fields,
    path = `${adapter}/a-${adapter}/${secretOf(`a-${adapter}`)}`,
  ) => {
    const [type, body] = bodyOf(adapter, fields)
    return post(path, body, type)
  }
  /** Everything of a channel that a callback could change. */
  const state = async ({ id }: Channel): Promise<unknown> => {
    const rowsOf = (table: string) =>
      current().execute(`select count(*) as n from ${table} where user_id = '${id}'`)
    return [await rowsOf('publish_sessions'), await rowsOf('streams'), await rowsOf('videos')]
  }
  const isLive = async ({ id }: Channel) =>
    (await current().strand.services.store.streams.of(id)) !== undefined
  const expectNotLogged = (...words: readonly string[]) => {
    const log = current().logLines.join('\n')
    expect(words.filter(word => log.includes(word))).toEqual([])
  }
  /** Whether a publisher was let in. */
  const isAllowed = async (response: Response) =>
    response.status < 400 && !(await response.text()).includes('"allowed":false')

  for (const adapter of ADAPTERS)
    describe(adapter, () => {
      test('403 without a word to a wrong, missing or foreign secret, and nothing changes', async () => {
        const channel = await newChannel()
        const before = await state(channel)
        const own = secretOf(`a-${adapter}`)
        const server = `${adapter}/a-${adapter}`
        for (const path of [
          server,
          `${server}/`,
          `${server}?secret=`,
          `${server}/${own.slice(0, -1)}`,
          `${server}/${own}x`,
          `${server}/${own}%00`,
          `${server}/${own.toUpperCase()}`,
          `${server}/x?secret=${own}`,
          `${server}?secret=x&secret=${own}`,
          `${server}/${secretOf(`b-${adapter}`)}`,
          `${adapter}/b-${adapter}/${own}`,
          `${adapter}/A-${adapter}/${own}`,
          `${adapter}/__proto__/${own}`,
          `__proto__/a-${adapter}/${own}`,
          `embedded/a-${adapter}/${own}`,
        ]) {
          const response = await send(adapter, PUBLISH[adapter](channel), path)
          expect([path, response.status, await response.text()]).toEqual([path, 403, ''])
        }
        expect([await state(channel), await isLive(channel)]).toEqual([before, false])
        expectNotLogged(own, own.slice(5, 25), channel.key, channel.key.slice(-16))
      })

      test('a key of another channel, two keys, and any field with any value start nothing for the channel', async () => {
        const [channel, other] = [await newChannel(), await newChannel()]
        const fields = PUBLISH[adapter](channel)
        const before = await state(channel)
        expect(await isAllowed(await send(adapter, PUBLISH[adapter]({ ...channel, key: other.key })))).toBe(
          false,
        )
        const doubled = `${channel.key}&key=${channel.key}&pass=other`
        expect(await isAllowed(await send(adapter, PUBLISH[adapter]({ ...channel, key: doubled })))).toBe(
          false,
        )
        expect([await state(channel), await isLive(channel)]).toEqual([before, false])
        const count = [...replaced(fields)].length
        for (let index = 0; index < count; index++) {
          const [forged = {}] = [...replaced(PUBLISH[adapter]({ ...channel, address: newAddress() }))].slice(
            index,
          )
          const { status } = await send(adapter, forged)
          expect([forged, status < 500]).toEqual([forged, true])
        }
        expect(await isLive(other)).toBe(false)
        expectNotLogged(channel.key, channel.key.slice(-16), other.key.slice(-16))
      })

      test('400 or 413 to bodies that cannot be read, and nothing changes', async () => {
        const channel = await newChannel()
        const [type, body] = bodyOf(adapter, PUBLISH[adapter](channel))
        const path = `${adapter}/a-${adapter}/${secretOf(`a-${adapter}`)}`
        const before = await state(channel)
        const unreadable: readonly (readonly [string | Uint8Array<ArrayBuffer> | ReadableStream, string])[] =
          [
            [Buffer.concat([Buffer.from(body), Buffer.from([0xff, 0xfe])]), type],
            [Buffer.from([0xc3, 0x28]), type],
            ['[['.repeat(30_000), 'application/json'],
            [`${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`, 'application/json'],
            ['\0', 'application/json'],
            ['', 'application/json'],
            ['', FORM],
            [body, adapter === 'nginx-rtmp' ? 'application/json' : FORM],
          ]
        for (const [bytes, as] of unreadable) expect((await post(path, bytes, as)).status).toBe(400)
        expect((await post(path, `${body}${' '.repeat(70_000)}`, type)).status).toBe(413)
        expect((await post(path, endless(70_000), type)).status).toBe(413)
        expect([await state(channel), await isLive(channel)]).toEqual([before, false])
      })

      test('HTTP/1.0 and chunked bodies are read, and a replay changes nothing, nor does one with a key that was replaced', async () => {
        const channel = await newChannel()
        const [type, body] = bodyOf(adapter, PUBLISH[adapter](channel))
        const path = `/ingest/${adapter}/a-${adapter}/${secretOf(`a-${adapter}`)}`
        const { port } = new URL(current().url)
        const old = [
          `POST ${path} HTTP/1.0`,
          'Host: 127.0.0.1',
          `Content-Type: ${type}`,
          `Content-Length: ${Buffer.byteLength(body)}`,
          '',
          body,
        ]
        expect(Number((await exchange(Number(port), old.join('\r\n'))).slice(9, 12))).toBeLessThan(400)
        expect(await isLive(channel)).toBe(true)
        const before = await state(channel)
        const chunks = [
          `POST ${path} HTTP/1.1`,
          'Host: 127.0.0.1',
          `Content-Type: ${type}`,
          'Connection: close',
          'Transfer-Encoding: chunked',
          '',
          ...[...body.matchAll(/.{1,7}/g)].flatMap(([piece]) => [piece.length.toString(16), piece]),
          '0',
          '',
          '',
        ]
        expect(Number((await exchange(Number(port), chunks.join('\r\n'))).slice(9, 12))).toBeLessThan(400)
        expect(await state(channel)).toEqual(before)
        // The key is replaced: what was recorded of the old one opens nothing.
        await current().control('DELETE', `/channels/${channel.id}/stream`)
        await current().control('POST', `/channels/${channel.id}/stream-key/rotate`, {})
        await current().control('POST', '/clock', { advance_seconds: 60 })
        expect(await isAllowed(await send(adapter, PUBLISH[adapter](channel)))).toBe(false)
        expect(await isLive(channel)).toBe(false)
        expectNotLogged(channel.key, channel.key.slice(-16), secretOf(`a-${adapter}`))
      })
    })
})

/** A body without a length. */
function endless(bytes: number): ReadableStream {
  let sent = 0
  return new ReadableStream({
    pull: controller => {
      if (sent >= bytes) return controller.close()
      sent += 1000
      controller.enqueue(Buffer.alloc(1000, 0x20))
    },
  })
}

function exchange(port: number, text: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let answer = ''
  const socket = connect(port, '127.0.0.1', () => socket.write(text))
  socket.on('data', piece => {
    answer += piece.toString()
  })
  socket.on('error', () => undefined)
  socket.on('close', () => resolve(answer))
  return promise
}
