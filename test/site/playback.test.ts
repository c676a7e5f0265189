import { describe, expect, test } from 'bun:test'
import { createClient } from '../../src/client/index.ts'
import { waitBefore } from '../../src/site/player/backoff.ts'
import { startBehindGap } from '../../src/site/player/gaps.ts'
import { rangesWithin } from '../../src/site/player/ranges.ts'
import { heartbeatTurns } from '../../src/site/player/send-heartbeats.ts'

describe('the player', () => {
  test('waits twice as long before each attempt, at most 10 s, and not as long as others', () => {
    expect([0, 1, 2, 3, 4, 5, 50].map(attempt => waitBefore(attempt, 0.5))).toEqual([
      500, 1000, 2000, 4000, 8000, 10_000, 10_000,
    ])
    expect([waitBefore(1, 0), waitBefore(1, 1)]).toEqual([750, 1250])
  })

  test('continues behind a gap, and only if it stands before one', () => {
    const ranges = [
      { start: 0, end: 10 },
      { start: 14, end: 20 },
    ]
    expect([5, 9.9, 10, 12, 15, 19.9, 25].map(time => startBehindGap(ranges, time))).toEqual([
      undefined,
      14,
      14,
      14,
      undefined,
      undefined,
      undefined,
    ])
  })

  test('asks for ranges within the file', () => {
    const file = { bytes: Number.POSITIVE_INFINITY }
    const handler = new (rangesWithin(file))()
    const rangeOf = (from: number, to = -1) => handler.getConfig('/videos/1.flv', { from, to }).headers
    expect(rangeOf(0)).toEqual({})
    expect(rangeOf(500)).toEqual({ Range: 'bytes=500-' })
    file.bytes = 1000
    expect(rangeOf(500, 700)).toEqual({ Range: 'bytes=500-700' })
    expect(rangeOf(1000)).toEqual({ Range: 'bytes=996-' })
  })

  test('sends a heartbeat every 30 s while it plays, and starts another session only after a 401', async () => {
    const sent: string[] = []
    let status = 204
    const { playback } = createClient({
      baseUrl: 'http://localhost',
      retries: 0,
      fetch: async (url, init) => {
        const path = new URL(url).pathname
        sent.push(`${path} ${init?.body}`)
        const session = `session-${sent.filter(each => each.startsWith('/playback/session')).length}`
        if (path === '/playback/session') return Response.json({ data: [{ session }] })
        return new Response(status === 204 ? null : '{}', { status })
      },
    })
    const turn = heartbeatTurns('lunar_otter', () => playback)
    const sentWithin = async (from: number, to: number, isPlaying = true) => {
      sent.length = 0
      for (let second = from; second < to; second++) await turn(isPlaying, second * 1000)
      return [...sent]
    }
    const started = '/playback/session {"login":"lunar_otter"}'
    const beat = '/playback/heartbeat {"session":"session-1"}'
    expect(await sentWithin(0, 5, false)).toEqual([])
    expect(await sentWithin(5, 65)).toEqual([started, beat, beat])
    expect(await sentWithin(65, 200, false)).toEqual([])
    status = 503
    expect(await sentWithin(200, 230)).toEqual([beat])
    status = 401
    expect(await sentWithin(230, 260)).toEqual([beat])
    status = 204
    expect(await sentWithin(260, 320)).toEqual([started, beat, beat])
  })
})
