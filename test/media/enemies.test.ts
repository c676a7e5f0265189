/** The embedded media server among enemies (D-126): they are disconnected, and a broadcast beside them does not notice. */
import { describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { SeededRandom } from '../../src/kit/random.ts'
import { TYPE } from '../../src/media/rtmp/chunks.ts'
import { ATTACKS, closedAfter, Witness } from '../support/media/rtmp-attacks.ts'
import { RtmpClient } from '../support/media/rtmp-client.ts'
import { commandOf, control, HANDSHAKE, mutatedConversation } from '../support/media/rtmp-mutations.ts'
import { onEachStore } from '../support/server/each-store.ts'

const config = { rtmpListen: { host: '127.0.0.1', port: 0 }, reconnectGraceSeconds: 1 }
/** The deadline of a connection that does not publish. */
const DEADLINE_MILLISECONDS = 10_000
const GUESSES = 20
const CHUNK_SIZE = control(TYPE.setChunkSize, 4096)
const SAMPLES = 12
const ACCEPTED = 'NetStream.Publish.Start'
const REFUSED = 'NetStream.Publish.BadName'

onEachStore('the media server', { config }, (current, engine) => {
  const port = () => current().strand.rtmpPort ?? 0
  let addresses = 0
  const newAddress = () => `127.${engine === 'sqlite' ? 1 : 2}.${addresses >> 7}.${1 + (addresses++ & 127)}`

  const newChannel = async (login: string) => {
    const [{ id }] = await current().control('POST', '/users', { login })
    const [{ stream_key: key }] = await current().control('POST', `/channels/${id}/stream-key/rotate`, {})
    return { id: id as string, login, key: key as string }
  }
  const publish = async (name: string, address = newAddress()) => {
    const client = await RtmpClient.connect(port(), address)
    const code = await client.publish(name)
    client.close()
    return code
  }
  const witness = async (login: string) => {
    const { key } = await newChannel(login)
    return Witness.start({ rtmpPort: port(), url: current().url, login, key })
  }

  test('disconnects every enemy long before its deadline; a viewer beside them misses no frame', async () => {
    const broadcast = await witness('beside_attacks')
    const took = await Promise.all(
      Object.entries(ATTACKS).map(async ([name, bytes]) => ({
        name,
        ms: await closedAfter(port(), bytes, newAddress()),
      })),
    )
    expect(took.filter(({ ms }) => ms > DEADLINE_MILLISECONDS - 1000)).toEqual([])
    expect(await broadcast.finish()).toMatchObject({ missing: [] })
    expect(current().logLines.filter(line => line.includes('RTMP connection failed'))).toEqual([])
  })

  test('survives 300 mutated conversations over sockets; a viewer beside them misses no frame', async () => {
    const broadcast = await witness('beside_mutations')
    for (let seed = 0; seed < 300; ) {
      const round = Array.from({ length: 50 }, async () => {
        const bytes = mutatedConversation(new SeededRandom(seed++))
        const client = await RtmpClient.connect(port(), newAddress())
        client.send(bytes)
        await Bun.sleep(20)
        client.close()
      })
      await Promise.all(round)
    }
    expect(await broadcast.finish()).toMatchObject({ missing: [] })
    expect(current().logLines.filter(line => line.includes('RTMP connection failed'))).toEqual([])
  })

  describe('a wrong key', () => {
    test('gets the same bytes as answer, in about the same time, whatever is wrong with it', async () => {
      const { id, login, key: rotated } = await newChannel('locked')
      const other = await newChannel('other_channel')
      const add = async (name: string, valid_until?: string): Promise<string> => {
        const [row] = await current().control('POST', `/channels/${id}/stream-keys`, { name, valid_until })
        return row.stream_key
      }
      const soon = new Date(current().strand.services.clock.now() + 60_000).toISOString()
      const [expired, deleted] = [await add('expired', soon), await add('deleted')]
      await current().control('DELETE', `/channels/${id}/stream-keys/deleted`)
      const [{ stream_key: valid }] = await current().control('POST', `/channels/${id}/stream-key/rotate`, {})
      await current().control('POST', '/clock', { advance_seconds: 61 })
      const names = {
        unknown: `live_${id}_${'x'.repeat(40)}`,
        expired,
        rotated,
        deleted,
        'of another channel': `${login}?key=${other.key}`,
        'with an unknown login': `no_such_login?key=${valid}`,
        'nearly right': `${valid.slice(0, -1)}${valid.endsWith('a') ? 'b' : 'a'}`,
        'given twice': `${login}?key=${valid}&key=${valid}`,
        empty: '',
        long: 'x'.repeat(60_000),
      }
      const answers = new Map<string, string>()
      const fastest = new Map<string, number>()
      for (let sample = 0; sample < SAMPLES; sample++)
        for (const [kind, name] of Object.entries(names)) {
          const { answer, ms } = await answerTo(port(), name, newAddress())
          answers.set(kind, answer)
          fastest.set(kind, Math.min(ms, fastest.get(kind) ?? ms))
        }
      expect(new Set(answers.values()).size).toBe(1)
      expect(answers.get('unknown')).toContain(Buffer.from(REFUSED).toString('hex'))
      // The fastest of some is what the work takes, without what else the machine does.
      const times = Object.keys(names).filter(kind => kind !== 'long' && kind !== 'empty')
      const spread = times.map(kind => fastest.get(kind) ?? 0)
      expect(Math.max(...spread) - Math.min(...spread)).toBeLessThan(5)
      const log = current().logLines.join('\n')
      for (const key of [expired, rotated, deleted, valid, other.key])
        expect([log.includes(key), log.includes(key.slice(-16)), log.includes(key.slice(0, -16))]).toEqual([
          false,
          false,
          false,
        ])
    })

    test(`does not keep out a right one, also after ${GUESSES} of the same address`, async () => {
      const { key } = await newChannel('guarded')
      const address = newAddress()
      for (let guess = 0; guess <= GUESSES; guess++)
        expect(await publish(`live_1_guess_${guess}`, address)).toBe(REFUSED)
      expect(await publish(key, address)).toBe(ACCEPTED)
    })
  })
})

/** What the server sends to a publisher with this name, without the random block, and how long it took. */
function answerTo(port: number, name: string, localAddress: string): Promise<{ answer: string; ms: number }> {
  const { promise, resolve } = Promise.withResolvers<{ answer: string; ms: number }>()
  const pieces: Buffer[] = []
  let began = 0
  const socket = connect({ port, host: '127.0.0.1', localAddress }, () => {
    began = performance.now()
    const asked = commandOf(1, 'publish', 3, null, name, 'live')
    socket.write(Buffer.concat([HANDSHAKE, CHUNK_SIZE, commandOf(0, 'connect', 1, new Map()), asked]))
  })
  socket.on('data', (piece: Buffer) => pieces.push(piece))
  socket.on('error', () => undefined)
  socket.on('close', () => {
    const answer = Buffer.concat(pieces).subarray(HANDSHAKE.length).toString('hex')
    resolve({ answer, ms: performance.now() - began })
  })
  return promise
}
