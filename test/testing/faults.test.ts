/** What a caller sees of faults that end the connection or spoil the answer, in this process and with a child. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { type FaultOutcome, type RunningStrand, startStrand } from '../../src/testing/start-strand.ts'

const SCENARIO = { entitlements: { granted: {} } } as const

/** Sends requests one after the other on one connection; the last answer is what came before its end. */
function onOneConnection(url: string, requests: readonly string[]): Promise<string> {
  return new Promise(resolve => {
    let received = ''
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(requests[0] ?? ''))
    let sent = 1
    socket.on('data', data => {
      received += data
      if (sent < requests.length) socket.write(requests[sent++] ?? '')
    })
    socket.on('error', error => {
      received += `[${(error as { code?: string }).code}]`
    })
    socket.on('close', () => resolve(received))
  })
}

for (const mode of ['process', 'child'] as const) {
  describe(`faults, ${mode}`, () => {
    let strand: RunningStrand<typeof SCENARIO>
    beforeAll(async () => {
      strand = await startStrand({ mode, streams: 1, scenario: SCENARIO })
    })
    afterAll(() => strand.stop())

    const headers = () => ({
      Authorization: `Bearer ${strand.client.app_token}`,
      'Content-Type': 'application/json',
    })
    const input = (status: string) => ({
      entitlement_ids: [strand.world.scenario.granted.id],
      fulfillment_status: status,
    })
    const fulfil = (status = 'FULFILLED') =>
      fetch(`${strand.url}/helix/entitlements/drops`, {
        method: 'PATCH',
        headers: headers(),
        body: JSON.stringify(input(status)),
      })
    const stored = async () => {
      const { id } = strand.world.scenario.granted
      const answer = await fetch(`${strand.url}/helix/entitlements/drops?id=${id}`, { headers: headers() })
      return ((await answer.json()) as { data: { fulfillment_status: string }[] }).data[0]?.fulfillment_status
    }
    const plan = (outcome: FaultOutcome) =>
      strand.faults.plan({ operation: 'UpdateDropsEntitlements', outcome })

    test('answer_lost: the write is done, and the caller does not learn it', async () => {
      await fulfil('CLAIMED')
      await plan('answer_lost')
      await expect(fulfil()).rejects.toThrow()
      expect(await stored()).toBe('FULFILLED')
      const [lost] = (await strand.requests.list({ operation: 'UpdateDropsEntitlements' })).slice(-1)
      expect(lost).toMatchObject({
        fault: 'answer_lost',
        status: 200,
        answer: { data: [{ status: 'SUCCESS' }] },
      })
    })

    test('connection_reset: nothing is written', async () => {
      await fulfil('CLAIMED')
      await plan('connection_reset')
      await expect(fulfil()).rejects.toThrow()
      expect(await stored()).toBe('CLAIMED')
      const [cut] = (await strand.requests.list({ operation: 'UpdateDropsEntitlements' })).slice(-1)
      expect(cut).toMatchObject({ fault: 'connection_reset', status: null, answer: null })
    })

    test('broken_json: 200 and half of the text', async () => {
      await plan('broken_json')
      const answer = await fulfil()
      expect(answer.status).toBe(200)
      const text = await answer.text()
      expect(text).toStartWith('{"data":[{')
      expect(() => JSON.parse(text)).toThrow()
      expect(await stored()).toBe('FULFILLED')
    })

    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
    const bodyOf = (received: string) => received.split('\r\n\r\n').slice(1).join('\r\n\r\n')

    test('answer_cut: the status, so many bytes, and a reset connection; the call has taken effect', async () => {
      await fulfil('CLAIMED')
      await strand.faults.plan({ operation: 'UpdateDropsEntitlements', outcome: 'answer_cut', bytes: 9 })
      const answer = await fulfil()
      expect(answer.status).toBe(200)
      await expect(answer.text()).rejects.toThrow()
      expect(await stored()).toBe('FULFILLED')
      await strand.faults.plan({ operation: 'GetStreams', outcome: 'answer_cut', bytes: 9 })
      const received = await onOneConnection(strand.url, [get('/helix/streams')])
      expect(received).toStartWith('HTTP/1.1 200 OK')
      expect(bodyOf(received)).toBe('9\r\n{"data":[\r\n[ECONNRESET]')
      const [cut] = (await strand.requests.list({ operation: 'GetStreams' })).slice(-1)
      expect(cut).toMatchObject({ fault: 'answer_cut', status: 200, answer: { data: [{ type: 'live' }] } })
    })

    test('answer_cut and answer_stalled stop in the middle, unless bytes has another place', async () => {
      const whole = await (await fetch(`${strand.url}/helix/streams`)).text()
      for (const [bytes, sent] of [
        [undefined, Math.ceil(whole.length / 2)],
        [1_000_000, whole.length - 1],
      ] as const) {
        await strand.faults.plan({ operation: 'GetStreams', outcome: 'answer_cut', bytes })
        const received = await onOneConnection(strand.url, [get('/helix/streams')])
        expect(bodyOf(received)).toBe(`${sent.toString(16)}\r\n${whole.slice(0, sent)}\r\n[ECONNRESET]`)
      }
    })

    test('answer_stalled: so many bytes, and the rest after the time', async () => {
      const whole = await (await fetch(`${strand.url}/helix/streams`)).text()
      await strand.faults.plan({
        operation: 'GetStreams',
        outcome: 'answer_stalled',
        bytes: 9,
        milliseconds: 700,
      })
      const answer = await fetch(`${strand.url}/helix/streams`)
      const pieces: string[] = []
      let began = 0
      let longest = 0
      for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) {
        if (pieces.length > 0) longest = Math.max(longest, performance.now() - began)
        began = performance.now()
        pieces.push(new TextDecoder().decode(piece))
      }
      expect(pieces[0]).toBe('{"data":[')
      expect(pieces.join('')).toBe(whole)
      expect(longest).toBeGreaterThan(600)
    })

    test('an operation that faults do not apply to is refused, with the one that was meant', async () => {
      const operation = 'GetStream' as 'GetStreams'
      await expect(strand.faults.plan({ operation, outcome: 'unavailable' })).rejects.toThrow(
        'to which faults do not apply; did you mean GetStreams?',
      )
    })

    for (const outcome of ['connection_reset', 'answer_lost'] as const)
      test(`${outcome} resets a kept connection, after the answers before it and without a byte`, async () => {
        await plan(outcome)
        const body = JSON.stringify(input('FULFILLED'))
        const given = Object.entries({ Host: 'localhost', ...headers(), 'Content-Length': body.length })
        const lines = given.map(([name, value]) => `${name}: ${value}\r\n`).join('')
        const received = await onOneConnection(strand.url, [
          'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n',
          `PATCH /helix/entitlements/drops HTTP/1.1\r\n${lines}\r\n${body}`,
        ])
        expect(received).toStartWith('HTTP/1.1 200 OK')
        expect(received).toEndWith('[ECONNRESET]')
        expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1)
      })

    test('fetch of Node sees the same', async () => {
      await plan('answer_lost')
      await strand.faults.plan({ operation: 'UpdateDropsEntitlements', outcome: 'broken_json', skip: 1 })
      await strand.faults.plan({ operation: 'UpdateDropsEntitlements', outcome: 'connection_reset', skip: 2 })
      const init = { method: 'PATCH', headers: headers(), body: JSON.stringify(input('CLAIMED')) }
      const script = `for (let call = 0; call < 4; call++)
        await fetch(${JSON.stringify(`${strand.url}/helix/entitlements/drops`)}, ${JSON.stringify(init)})
          .then(answer => answer.json())
          .then(() => console.log('answered'), error => console.log(error.cause?.code ?? error.name))`
      const node = Bun.spawn(['node', '--input-type=module', '-e', script], { stdout: 'pipe' })
      const lines = (await new Response(node.stdout).text()).trim().split('\n')
      expect(lines.map(line => line.replace('UND_ERR_SOCKET', 'ECONNRESET'))).toEqual([
        'ECONNRESET',
        'SyntaxError',
        'ECONNRESET',
        'answered',
      ])
      expect(await strand.faults.pending()).toEqual([])
    })
  })
}
