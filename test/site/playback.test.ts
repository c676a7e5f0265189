import { describe, expect, test } from 'bun:test'
import { createClient } from '../../src/client/index.ts'
import { waitBefore, waitForPublisher } from '../../src/site/player/backoff.ts'
import { type FocusedKind, findKeyAction, KEY_LIST } from '../../src/site/player/keys.ts'
import { changePreferences, readPreferences } from '../../src/site/player/preferences.ts'
import { heartbeatTurns } from '../../src/site/player/send-heartbeats.ts'

const ANSWER = '{"data":[{"campaign_id":"c","minutes":2,"claimable":["d"]}]}'

describe('the player', () => {
  test('waits twice as long before each attempt, at most 10 s, and not as long as others', () => {
    expect([0, 1, 2, 3, 4, 5, 50].map(attempt => waitBefore(attempt, 0.5))).toEqual([
      500, 1000, 2000, 4000, 8000, 10_000, 10_000,
    ])
    expect([waitBefore(1, 0), waitBefore(1, 1)]).toEqual([750, 1250])
    expect([waitForPublisher(0), waitForPublisher(1)]).toEqual([1500, 2500])
  })

  test('sends a heartbeat every 30 s while it plays, and starts another session only after a 401', async () => {
    const sent: string[] = []
    let [status, counted] = [204, 0]
    let earned: unknown
    const { playback } = createClient({
      baseUrl: 'http://localhost',
      retries: 0,
      fetch: async (url, init) => {
        const path = new URL(url).pathname
        sent.push(`${path} ${init?.body}`)
        const session = `session-${sent.filter(each => each.startsWith('/playback/session')).length}`
        if (path === '/playback/session') return Response.json({ data: [{ session }] })
        return new Response(status === 204 ? null : ANSWER, { status })
      },
    })
    const turn = heartbeatTurns(
      'lunar_otter',
      () => playback,
      answer => {
        counted += 1
        earned = answer?.data
      },
    )
    const sentWithin = async (from: number, to: number, isPlaying = true) => {
      sent.length = 0
      for (let second = from; second < to; second++) await turn(isPlaying, second * 1000)
      return [...sent]
    }
    const started = '/playback/session {"login":"lunar_otter"}'
    const beat = '/playback/heartbeat {"session":"session-1"}'
    expect(await sentWithin(0, 5, false)).toEqual([])
    expect(await sentWithin(5, 65)).toEqual([started, beat, beat])
    expect(counted).toBe(2)
    expect(await sentWithin(65, 200, false)).toEqual([])
    status = 503
    expect(await sentWithin(200, 230)).toEqual([beat])
    status = 401
    expect(await sentWithin(230, 260)).toEqual([beat])
    expect(counted).toBe(2)
    status = 204
    expect(await sentWithin(260, 320)).toEqual([started, beat, beat])
    // A viewer who is logged in learns what a heartbeat has earned.
    expect(earned).toBeUndefined()
    status = 200
    await sentWithin(320, 350)
    expect(earned).toEqual(JSON.parse(ANSWER).data)
  })

  test('remembers volume, mute and theatre mode, whatever the storage has, or where there is none', () => {
    const defaults = { volume: 1, isMuted: false, isTheatre: false }
    let stored: string | null = null
    const storage = {
      getItem: () => stored,
      setItem: (_: string, value: string) => {
        stored = value
      },
    }
    expect(readPreferences(() => storage)).toEqual(defaults)
    changePreferences({ volume: 0.4, isMuted: true }, () => storage)
    changePreferences({ isTheatre: true }, () => storage)
    expect(readPreferences(() => storage)).toEqual({ volume: 0.4, isMuted: true, isTheatre: true })
    for (const text of [
      '',
      'null',
      '[]',
      '7',
      '{',
      '{"volume":7}',
      '{"volume":"1","isMuted":"yes"}',
      '{"volume":-1}',
    ]) {
      stored = text
      expect([text, readPreferences(() => storage)]).toEqual([text, defaults])
    }
    const forbidden = () => {
      throw new Error('no storage')
    }
    expect(readPreferences(forbidden)).toEqual(defaults)
    expect(() => changePreferences({ volume: 0 }, forbidden)).not.toThrow()
  })

  test('has the keys that people know, except where what has the focus uses them', () => {
    const act = (key: string, focused: FocusedKind = 'none') => findKeyAction(key, focused)
    expect(['k', 'K', ' ', 'm', 'f', 't', 'i', '?'].map(key => act(key)?.act)).toEqual([
      'toggle',
      'toggle',
      'toggle',
      'mute',
      'fullscreen',
      'theatre',
      'picture',
      'keys',
    ])
    expect(['j', 'l', 'ArrowLeft', 'ArrowRight'].map(key => act(key))).toEqual(
      [-10, 10, -5, 5].map(by => ({ act: 'seek', by })),
    )
    expect([act('ArrowUp'), act('ArrowDown')]).toEqual([
      { act: 'volume', by: 0.05 },
      { act: 'volume', by: -0.05 },
    ])
    expect([act('0'), act('7')]).toEqual([
      { act: 'jump', share: 0 },
      { act: 'jump', share: 0.7 },
    ])
    for (const key of ['q', 'Enter', 'Tab', 'Escape', '10', '', 'constructor', '__proto__'])
      expect([key, act(key)]).toEqual([key, undefined])
    for (const key of ['k', ' ', 'm', '5', 'ArrowUp', '?'])
      expect([key, act(key, 'text')]).toEqual([key, undefined])
    expect([act(' ', 'button'), act('k', 'button')?.act, act('ArrowLeft', 'button')?.act]).toEqual([
      undefined,
      'toggle',
      'seek',
    ])
    expect([act('ArrowUp', 'slider'), act('m', 'slider')?.act]).toEqual([undefined, 'mute'])
  })

  test('lists every key that does something', () => {
    const names = new Map([
      ['Space', ' '],
      ['←', 'ArrowLeft'],
      ['→', 'ArrowRight'],
      ['↑', 'ArrowUp'],
      ['↓', 'ArrowDown'],
    ])
    const listed = KEY_LIST.flatMap(({ keys }) => keys).map(key => names.get(key) ?? key)
    const all = [...'abcdefghijklmnopqrstuvwxyz?', ...names.values()].filter(key =>
      findKeyAction(key, 'none'),
    )
    expect(listed.filter(key => !/[0-9…]/.test(key)).sort()).toEqual(all.sort())
  })
})
