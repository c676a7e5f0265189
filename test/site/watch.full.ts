/**
 * Watching in a real browser: a channel plays close to live and without a stall, can be rewound and returns, waits for a lost
 * publisher without an error, and its recording plays and seeks, with pins for its markers. ffmpeg publishes to the embedded
 * media server. Latency is measured on the pixels: every picture carries its number.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { Lateness, totalOf } from '../support/browser/lateness.ts'
import { look } from '../support/browser/look.ts'
import { openWatched } from '../support/browser/watched-page.ts'
import { hasEncoder } from '../support/media/encoder.ts'
import { HlsPlayer } from '../support/media/hls.ts'
import {
  FRAMES_PER_SECOND,
  publishNumbered,
  readArrival,
  SHOWN_NUMBER,
} from '../support/media/numbered-video.ts'
import { PartTimes } from '../support/media/part-times.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const RUN_SECONDS = 35
const MAX_LATENCY_MILLISECONDS = 5000

/** What was measured, for those who read the output. */
const note = (line: string) => process.stdout.write(`[watch] ${line}\n`)

interface Shown {
  readonly time: number
  /** Of the picture. */
  readonly number: number
  readonly frames: number
  readonly ahead: number
}

const SHOWN = `(() => {
  const video = document.querySelector('video')
  const { buffered } = video
  return {
    time: video.currentTime,
    number: ${SHOWN_NUMBER},
    frames: video.getVideoPlaybackQuality().totalVideoFrames,
    ahead: buffered.length === 0 ? 0 : buffered.end(buffered.length - 1) - video.currentTime,
  }
})()`

/** Nothing plays without a stall while the machine has no time for the encoder or the page for so long. */
const PAUSE_MILLISECONDS = 500

describe.skipIf(!hasBrowser || !hasEncoder)('watching in a real browser', () => {
  let server: TestServer
  let browser: Browser
  let page: Page
  let violations: string[]
  let login: string
  let user_id: string
  let video_id: string
  let ingestUrl: string
  let encoder: Bun.Subprocess | undefined
  /** Positions count from the start of the broadcast: an encoder on a busy machine takes a while until its first picture. */
  let firstPictureAt = 0
  /** What the page asked for, with the status of the answer. */
  const answers: (readonly [path: string, status: number])[] = []

  beforeAll(async () => {
    server = await startTestServer('sqlite', {
      config: {
        listen: { host: 'localhost', port: 0 },
        rtmpListen: { host: '127.0.0.1', port: 0 },
        record: true,
        reconnectGraceSeconds: 600,
      },
    })
    const { offline, users } = server.world
    user_id = offline.id
    login = users.find(user => user.id === offline.id)?.login ?? ''
    const { body } = await server.call({
      path: `/helix/streams/key?broadcaster_id=${user_id}`,
      token: offline.token,
    })
    ingestUrl = `rtmp://127.0.0.1:${server.strand.rtmpPort}/live/${body.data[0].stream_key}`
    browser = await launchBrowser()
    ;({ page, violations } = await openWatched(browser, server.url))
    page.on('response', response => {
      answers.push([new URL(response.url()).pathname, response.status()])
    })
  })
  afterAll(async () => {
    await stopEncoder()
    await browser?.close()
    await server?.stop()
  })

  /** The publisher connects. Its first segment is complete when this resolves. */
  async function goOnAir(): Promise<void> {
    encoder = publishNumbered(ingestUrl)
    await until(async () => (await fetch(`${server.url}/live/${login}.m3u8`)).ok)
    const [latest] = await server.control('GET', `/videos?user_id=${user_id}&first=1`)
    video_id = latest.id
  }

  async function stopEncoder(): Promise<void> {
    encoder?.kill('SIGKILL')
    await encoder?.exited
  }

  const shown = () => page.evaluate<Shown>(SHOWN)
  const state = () => page.evaluate<string>('document.querySelector("[data-player]").dataset.state')
  const mode = () => page.evaluate<string>('document.querySelector("[data-player]").dataset.mode')
  const message = () => page.textContent('[data-part=message]')
  const isMuted = () => page.evaluate<boolean>('document.querySelector("video").muted')
  const volume = () => page.evaluate<number>('document.querySelector("video").volume')
  const isKeyListOpen = () => page.evaluate<boolean>('document.querySelector("dialog").open')
  const asked = (wanted: string) => answers.filter(([path]) => path === wanted).length

  const loaded = () =>
    page.evaluate<{ name: string; bytes: number }[]>(
      "performance.getEntriesByType('resource').map(each => ({ name: new URL(each.name).pathname, bytes: each.encodedBodySize }))",
    )
  const scriptBytes = async () =>
    (await loaded()).filter(({ name }) => name.endsWith('.js')).reduce((sum, { bytes }) => sum + bytes, 0)
  const isTheatre = () => page.evaluate<boolean>('document.querySelector("[data-theatre]") !== null')

  /** Asks until it is so; the time limit is that of the test. */
  async function until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) await Bun.sleep(100)
  }

  /** Resolves when the video moves on and shows new pictures. */
  async function untilPlaying(): Promise<void> {
    await until(async () => (await state()) === 'playing')
    const before = await shown()
    await until(async () => {
      const { time, frames } = await shown()
      return time > before.time + 0.5 && frames > before.frames + 4
    })
  }

  async function seek(seconds: number): Promise<void> {
    await page.evaluate(`(() => {
      const slider = document.querySelector('[data-part=seek]')
      slider.value = ${seconds}
      slider.dispatchEvent(new Event('change'))
    })()`)
  }

  test('a channel plays as soon as its page is open, without sound until a click', async () => {
    await goOnAir()
    const began = performance.now()
    // What a test evaluates in a page counts as a click, so the page reports by itself that the video plays.
    await page.addInitScript("addEventListener('playing', () => console.debug('playing'), true)")
    const playing = page.waitForEvent('console', each => each.text() === 'playing')
    await page.goto(`${server.url}/${login}`)
    await playing
    note(`playing ${Math.round(performance.now() - began)} ms after the page was asked for`)
    expect(await isMuted()).toBe(true)
    await untilPlaying()
    expect([await mode(), await page.isVisible('[data-part=rate]')]).toEqual(['live', false])
    const bytes = await scriptBytes()
    note(`${bytes} bytes of compressed script`)
    expect(bytes).toBeWithin(100_000, 150_001)
    await look(page, 'channel-live')
    await page.click('text=Unmute')
    expect(await isMuted()).toBe(false)
    expect(await page.isVisible('text=Unmute')).toBe(false)
  })

  test('the viewer of the page is shown at once, and sends heartbeats', async () => {
    const text = async () => (await page.textContent('.masthead .facts')) ?? ''
    await until(async () => /^Viewers ?1(?![0-9])/.test(await text()))
    expect(answers.filter(([path]) => path === '/playback/heartbeat')).toEqual([['/playback/heartbeat', 204]])
  })

  test(`it plays ${RUN_SECONDS} s without a stall, and close to live`, async () => {
    const parts = await PartTimes.follow(server.url, login)
    const lateness = await Lateness.of(page)
    await page.evaluate(
      `window.stalls = []; document.querySelector('video').onwaiting = () => stalls.push(Date.now())`,
    )
    const [first, began] = [await shown(), performance.now()]
    const latencies: number[] = []
    while (performance.now() - began < RUN_SECONDS * 1000) {
      await Bun.sleep(500)
      const arrivedAt = parts.arrivedAt((await shown()).number)
      if (arrivedAt !== undefined) latencies.push(Date.now() - arrivedAt)
    }
    const [last, seconds] = [await shown(), (performance.now() - began) / 1000]
    await parts.stop()
    latencies.sort((a, b) => a - b)
    const [median = 0, most = 0] = [latencies[latencies.length >> 1], latencies.at(-1)]
    note(
      `${latencies.length} samples from packager to screen: median ${median} ms, most ${most} ms; buffered ahead ${last.ahead.toFixed(2)} s`,
    )
    const pauses = [...(await lateness.stop()), ...parts.pauses()].filter(
      ({ milliseconds }) => milliseconds > 2 * PAUSE_MILLISECONDS,
    )
    const isExplained = (stall: number) =>
      pauses.some(({ at }) => Math.abs(stall - at) < 2 * MAX_LATENCY_MILLISECONDS)
    const stalls = await page.evaluate<number[]>('stalls')
    expect(stalls.filter(each => !isExplained(each))).toEqual([])
    const lost = 2 + totalOf(pauses) / 1000
    expect(last.time - first.time).toBeGreaterThan(seconds - lost)
    expect(last.frames - first.frames).toBeGreaterThan((seconds - lost) * FRAMES_PER_SECOND * 0.9)
    expect(latencies.length).toBeGreaterThan(RUN_SECONDS)
    expect(median).toBeLessThan(MAX_LATENCY_MILLISECONDS)
  }, 180_000)

  test('it can be rewound to the start of the broadcast, and returns', async () => {
    await seek(0)
    await until(async () => (await mode()) === 'recorded')
    await untilPlaying()
    const { time, number } = await shown()
    expect(time).toBeLessThan(10)
    firstPictureAt = time - number / FRAMES_PER_SECOND
    const firstArrivedAt = await readArrival(await HlsPlayer.open(server.url, login))
    const { body } = await server.call({
      path: `/helix/streams?user_id=${user_id}`,
      token: server.world.client.app_token,
    })
    // The time at which a stream started has no fractions of a second.
    const expected = (firstArrivedAt - Date.parse(body.data[0].started_at) - 500) / 1000
    note(`first picture at ${firstPictureAt.toFixed(2)} s, by the live playlist ${expected.toFixed(2)} s`)
    expect(Math.abs(firstPictureAt - expected)).toBeLessThan(1)
    await look(page, 'channel-rewound')
    expect(await page.isVisible('[data-part=rate]')).toBe(true)
    await page.keyboard.press('l')
    await until(async () => (await shown()).time > time + 8)
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await until(async () => (await shown()).time < time + 3)
    // A pause waits, and continues at the same place.
    await page.keyboard.press('k')
    const paused = await shown()
    await page.keyboard.press('k')
    await untilPlaying()
    expect((await shown()).time - paused.time).toBeLessThan(3)
    await page.getByRole('button', { name: 'Live', exact: true }).click()
    await until(async () => (await mode()) === 'live')
    await untilPlaying()
    const parts = await PartTimes.follow(server.url, login)
    await until(async () => parts.arrivedAt((await shown()).number) !== undefined)
    const arrivedAt = parts.arrivedAt((await shown()).number) ?? 0
    expect(Date.now() - arrivedAt).toBeLessThan(2 * MAX_LATENCY_MILLISECONDS)
    await parts.stop()
  })

  test('a broadcast that is paused for long continues where it was', async () => {
    await page.keyboard.press('k')
    expect(await state()).toBe('idle')
    const pausedAt = await page.evaluate<number>('Number(document.querySelector("[data-part=seek]").value)')
    await until(() =>
      page.evaluate<boolean>(`Number(document.querySelector('[data-part=seek]').max) > ${pausedAt} + 16`),
    )
    await page.keyboard.press('k')
    await untilPlaying()
    expect(await mode()).toBe('recorded')
    const { time, number } = await shown()
    expect(Math.abs(time - pausedAt)).toBeLessThan(4)
    expect(Math.abs(firstPictureAt + number / FRAMES_PER_SECOND - pausedAt)).toBeLessThan(6)
    await page.keyboard.press('9')
    await page.keyboard.press('End')
    await page.getByRole('button', { name: 'Live', exact: true }).click()
    await untilPlaying()
    // A pause while it loads is one, too.
    await page.evaluate(`(() => {
      const slider = document.querySelector('[data-part=seek]')
      slider.value = 5
      slider.dispatchEvent(new Event('change'))
      document.querySelector('[data-part=toggle]').click()
    })()`)
    await until(() => page.evaluate<boolean>('document.querySelector("video").readyState > 2'))
    expect([await state(), await page.evaluate('document.querySelector("video").paused')]).toEqual([
      'idle',
      true,
    ])
    await page.keyboard.press('k')
    await untilPlaying()
    expect((await shown()).time).toBeLessThan(10)
    await page.getByRole('button', { name: 'Live', exact: true }).click()
    await untilPlaying()
  })

  test('it can be used from the keyboard', async () => {
    await page.keyboard.press('m')
    expect(await isMuted()).toBe(true)
    await page.keyboard.press('m')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    expect(await volume()).toBeCloseTo(0.9)
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowDown')
    expect(await volume()).toBeCloseTo(0.9)
    await page.evaluate('document.activeElement.blur(); scrollTo(0, 0)')
    await page.keyboard.press(' ')
    expect([await state(), await page.evaluate('scrollY')]).toEqual(['idle', 0])
    await page.keyboard.press(' ')
    await untilPlaying()
    await page.keyboard.press('f')
    await until(() => page.evaluate<boolean>('document.fullscreenElement !== null'))
    await page.keyboard.press('f')
    await until(() => page.evaluate<boolean>('document.fullscreenElement === null'))
    await page.keyboard.press('?')
    expect(await isKeyListOpen()).toBe(true)
    await look(page, 'keys')
    await page.keyboard.press('k')
    expect(await state()).toBe('playing')
    await page.keyboard.press('Escape')
    expect(await isKeyListOpen()).toBe(false)
    await page.keyboard.press('i')
    await until(() => page.evaluate<boolean>('document.pictureInPictureElement !== null'))
    await page.keyboard.press('i')
    await until(() => page.evaluate<boolean>('document.pictureInPictureElement === null'))
    // The window that it is in then pauses and starts the video by itself.
    await page.evaluate('document.querySelector("video").pause()')
    await until(async () => (await state()) === 'idle')
    await page.evaluate('document.querySelector("video").dispatchEvent(new Event("playing"))')
    expect(await state()).toBe('idle')
    await page.evaluate('document.querySelector("video").play().catch(() => {})')
    await untilPlaying()
    const width = () =>
      page.evaluate<number>('document.querySelector("[data-player]").getBoundingClientRect().width')
    const before = await width()
    await page.keyboard.press('t')
    expect(await width()).toBeGreaterThan(before)
    await look(page, 'channel-theatre')
    await page.keyboard.press('t')
    expect(await width()).toBe(before)
    // Every control can be reached, and what is typed into a field is text.
    await page.focus('[data-part=toggle]')
    await page.keyboard.press(' ')
    expect(await state()).toBe('idle')
    await page.keyboard.press('Enter')
    await untilPlaying()
    await page.focus('input[name=q]')
    await page.keyboard.type('mk 5?')
    expect([
      await page.inputValue('input[name=q]'),
      await state(),
      await isMuted(),
      await isKeyListOpen(),
    ]).toEqual(['mk 5?', 'playing', false, false])
    await page.fill('input[name=q]', '')
  })

  test('it waits for the publisher without asking for a playlist, returns with it, and remembers volume, mute and theatre mode', async () => {
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('m')
    await page.keyboard.press('t')
    await stopEncoder()
    await until(async () => (await message()) === 'Waiting for the broadcaster…')
    const playlists = asked(`/live/${login}.m3u8`)
    expect((await page.waitForResponse(/\/site\/broadcast/)).status()).toBe(200)
    // A page that is opened now waits as well.
    await page.reload()
    await until(async () => (await message()) === 'Waiting for the broadcaster…')
    expect((await (await page.waitForResponse(/\/site\/broadcast/)).json()).broadcast.isOnAir).toBe(false)
    expect(asked(`/live/${login}.m3u8`)).toBe(playlists)
    expect([await isMuted(), await isTheatre()]).toEqual([true, true])
    expect(await volume()).toBeCloseTo(0.9)
    await page.keyboard.press('m')
    await page.keyboard.press('t')
    // Another node gets the broadcast: only another page may load from there.
    const reloaded = page.waitForEvent('load')
    const elsewhere = {
      source: `/live/${login}.m3u8`,
      isOnAir: true,
      recording: null,
      origin: 'https://media-2.example',
    }
    await page.route(/\/site\/broadcast/, route => route.fulfill({ json: { broadcast: elsewhere } }), {
      times: 1,
    })
    await reloaded
    await until(async () => (await message()) === 'Waiting for the broadcaster…')
    expect(asked(`/live/${login}.m3u8`)).toBe(playlists)
    await goOnAir()
    await untilPlaying()
    expect(await message()).toBe('')
    expect(answers.filter(([, status]) => status >= 400)).toEqual([])
  })

  test('the page of its video plays while the broadcast runs', async () => {
    for (const [at, description] of [
      [3, 'The first light over the reef'],
      [20, ''],
      [21, 'Two divers'],
    ] as const)
      await server.execute(
        `insert into video_markers (id, video_id, created_at, description, position_seconds)
         values ('${9000 + at}', '${video_id}', '2026-03-01T12:00:00Z', '${description}', ${at})`,
      )
    await page.goto(`${server.url}/videos/${video_id}?t=0h0m4s`)
    await page.waitForSelector('[data-part=bar]:not([hidden])')
    await look(page, 'video-running')
    await page.keyboard.press('k')
    await untilPlaying()
    expect([await mode(), Math.floor((await shown()).number / FRAMES_PER_SECOND / 10)]).toEqual([
      'recorded',
      0,
    ])
    await page.getByRole('button', { name: 'Live', exact: true }).click()
    await until(async () => (await mode()) === 'live')
    await untilPlaying()
  })

  test('it reports the end of the broadcast, whose recording remains', async () => {
    await page.goto(`${server.url}/${login}`)
    await untilPlaying()
    await stopEncoder()
    await server.control('DELETE', `/channels/${user_id}/stream`)
    await until(async () => (await fetch(`${server.url}/videos/${video_id}.mp4`, { method: 'HEAD' })).ok)
    await until(async () => (await message()) === 'This broadcast has ended.')
    await until(async () => (await page.textContent('.byline')) === 'Offline')
    await look(page, 'channel-ended')
    await seek(5)
    await untilPlaying()
    await page.goto(`${server.url}/${login}`)
    await look(page, 'channel-offline')
  })

  test('the recording is a file that plays from where the link points to, and seeks', async () => {
    await page.goto(`${server.url}/videos/${video_id}?t=0h0m4s`)
    // The script that listens to keys is loaded after the page.
    await page.waitForSelector('[data-part=bar]:not([hidden])')
    await look(page, 'video-idle')
    // Neither the library nor anything of the video, before it is asked for.
    expect(await scriptBytes()).toBeWithin(10_000, 30_001)
    expect((await loaded()).filter(({ name }) => name.startsWith(`/videos/${video_id}.`))).toEqual([])
    await page.evaluate(`(() => {
      const video = document.querySelector('video')
      video.addEventListener('playing', () => { window.startedAt = video.currentTime }, { once: true })
      video.addEventListener('seeked', () => { window.soughtTo = video.currentTime })
    })()`)
    await page.keyboard.press('k')
    await untilPlaying()
    expect(Math.abs((await page.evaluate<number>('window.startedAt')) - 4)).toBeLessThan(1)
    expect(await page.evaluate('document.querySelector("video").currentSrc')).toBe(
      `${server.url}/videos/${video_id}.mp4`,
    )
    await page.hover('[data-pin="3"]')
    await page.locator('.tip', { hasText: 'The first light over the reef' }).waitFor()
    await look(page, 'video-playing')
    const length = await page.evaluate<number>('document.querySelector("video").duration')
    expect(length).toBeGreaterThan(RUN_SECONDS)
    for (const target of [Math.floor(length) - 6, 20, 2]) {
      await seek(target)
      await until(() => page.evaluate<boolean>(`Math.abs(window.soughtTo - ${target}) < 1`))
      await untilPlaying()
      if (target > 20) continue
      const { time, number } = await shown()
      const isRight = Math.abs(firstPictureAt + number / FRAMES_PER_SECOND - time) < 1
      expect([target, isRight]).toEqual([target, true])
    }
    await page.selectOption('[data-part=rate]', '2')
    expect(await page.evaluate('document.querySelector("video").playbackRate')).toBe(2)
    await page.selectOption('[data-part=rate]', '1')
    await page.evaluate('document.activeElement.blur()')
    await page.locator('.markers a').last().click()
    await until(async () => Math.abs((await shown()).time - 21) < 3)
    await page.keyboard.press('5')
    await until(async () => Math.abs((await shown()).time - length / 2) < 3)
    await page.keyboard.press('ArrowRight')
    await until(async () => (await shown()).time > length / 2 + 4)
    await page.keyboard.press('ArrowLeft')
    await until(async () => (await shown()).time < length / 2 + 3)
    await page.keyboard.press('0')
    await until(async () => (await shown()).time < 3)
    await seek(length - 2)
    await until(() => page.evaluate<boolean>('document.querySelector("video").ended'))
    await until(async () => (await state()) === 'idle')
    await page.keyboard.press('k')
    await untilPlaying()
    expect((await shown()).time).toBeLessThan(10)
  })

  test('no error in the console, no violated policy, no other host', () => {
    expect(violations).toEqual([])
  })
})
