/**
 * Watching in a real browser what a real encoder sends: the channel plays close to live and without a stall, returns after
 * a lost publisher, and its recording plays and seeks. Latency is measured on the pixels: every picture carries its number,
 * and a viewer in this process notes when each one arrived from the server.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { Lateness, totalOf } from '../support/browser/lateness.ts'
import { DESK, look } from '../support/browser/look.ts'
import { hasEncoder } from '../support/media/encoder.ts'
import {
  Arrivals,
  FRAMES_PER_SECOND,
  publishNumbered,
  SHOWN_NUMBER,
} from '../support/media/numbered-video.ts'
import { startTestServer, type TestServer } from '../support/server.ts'

const GRACE_SECONDS = 5
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
  readonly rate: number
}

const SHOWN = `(() => {
  const video = document.querySelector('video')
  const { buffered } = video
  return {
    time: video.currentTime,
    number: ${SHOWN_NUMBER},
    frames: video.getVideoPlaybackQuality().totalVideoFrames,
    ahead: buffered.length === 0 ? 0 : buffered.end(buffered.length - 1) - video.currentTime,
    rate: video.playbackRate,
  }
})()`

/** Nothing plays without a stall while the machine has no time for the encoder or the page for so long. */
const PAUSE_MILLISECONDS = 500

describe.skipIf(!hasBrowser || !hasEncoder)('watching in a real browser', () => {
  let server: TestServer
  let browser: Browser
  let page: Page
  let login: string
  let publishUrl: string
  let encoder: Bun.Subprocess
  const violations: string[] = []

  beforeAll(async () => {
    server = await startTestServer('sqlite', {
      config: {
        listen: { host: 'localhost', port: 0 },
        rtmpListen: { host: '127.0.0.1', port: 0 },
        reconnectGraceSeconds: GRACE_SECONDS,
        record: true,
      },
    })
    const { offline, users } = server.world
    login = users.find(user => user.id === offline.id)?.login ?? ''
    const answer = await server.call({
      path: `/helix/streams/key?broadcaster_id=${offline.id}`,
      token: offline.token,
    })
    publishUrl = `rtmp://127.0.0.1:${server.strand.rtmpPort}/live/${answer.body.data[0].stream_key}`
    browser = await launchBrowser()
    page = await browser.newPage({ viewport: DESK })
    page.on('console', message => {
      // While the publisher is away, the broadcast is not found, and that is reported as an error.
      if (message.type() === 'error' && !/status of 404/.test(message.text())) violations.push(message.text())
    })
    page.on('pageerror', error => violations.push(String(error)))
    page.on('request', request => {
      const isOurs = request.url().startsWith(`${server.url}/`) || /^(data|blob):/.test(request.url())
      if (!isOurs) violations.push(`asked ${request.url()}`)
    })
    encoder = publishNumbered(publishUrl)
    await until(async () => (await fetch(`${server.url}/live/${login}.flv`, { method: 'HEAD' })).ok)
  })
  afterAll(async () => {
    encoder.kill('SIGKILL')
    await encoder.exited
    await browser.close()
    await server.stop()
  })

  const shown = () => page.evaluate<Shown>(SHOWN)
  const state = () => page.evaluate<string>('document.querySelector("[data-player]").dataset.state')
  const message = () => page.textContent('[data-part=message]')
  const isMuted = () => page.evaluate<boolean>('document.querySelector("video").muted')

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
      return time > before.time + 0.5 && frames > before.frames + 5
    })
  }

  test('a channel plays as soon as its page is open, without sound until a click', async () => {
    const began = performance.now()
    // What a test evaluates in a page counts as a click, so the page reports by itself that the video plays.
    await page.addInitScript("addEventListener('playing', () => console.debug('playing'), true)")
    const playing = page.waitForEvent('console', each => each.text() === 'playing')
    await page.goto(`${server.url}/${login}`)
    await playing
    note(`playing ${Math.round(performance.now() - began)} ms after the page was asked for`)
    expect(await isMuted()).toBe(true)
    await untilPlaying()
    await look(page, 'channel-live')
    await page.click('text=Unmute')
    expect(await isMuted()).toBe(false)
    expect(await page.isVisible('text=Unmute')).toBe(false)
  })

  test('it can be used from the keyboard', async () => {
    await page.keyboard.press('m')
    expect(await isMuted()).toBe(true)
    await page.keyboard.press('k')
    expect(await state()).toBe('idle')
    await page.focus('[aria-label=Player] [data-part=start]')
    await page.keyboard.press('Enter')
    await untilPlaying()
    await page.keyboard.press('f')
    await until(() => page.evaluate<boolean>('document.fullscreenElement !== null'))
    await page.keyboard.press('f')
    await until(() => page.evaluate<boolean>('document.fullscreenElement === null'))
  })

  test(`it plays ${RUN_SECONDS} s without a stall, and close to live`, async () => {
    const arrivals = new Arrivals()
    const following = arrivals.follow(`${server.url}/live/${login}.flv`)
    const lateness = await Lateness.of(page)
    await page.evaluate(
      `window.stalls = []; document.querySelector('video').onwaiting = () => stalls.push(Date.now())`,
    )
    const [first, began] = [await shown(), performance.now()]
    const latencies: number[] = []
    while (performance.now() - began < RUN_SECONDS * 1000) {
      await Bun.sleep(500)
      const arrivedAt = arrivals.at((await shown()).number)
      if (arrivedAt !== undefined) latencies.push(Date.now() - arrivedAt)
    }
    const [last, seconds] = [await shown(), (performance.now() - began) / 1000]
    arrivals.stop()
    await following
    latencies.sort((a, b) => a - b)
    const [median = 0, most = 0] = [latencies[latencies.length >> 1], latencies.at(-1)]
    note(
      `${latencies.length} samples from server to screen: median ${median} ms, most ${most} ms; buffered ahead ${last.ahead.toFixed(2)} s`,
    )
    const pauses = [...(await lateness.stop()), ...arrivals.pauses()].filter(
      ({ milliseconds }) => milliseconds > PAUSE_MILLISECONDS,
    )
    const isExplained = (stall: number) =>
      pauses.some(({ at }) => Math.abs(stall - at) < 2 * MAX_LATENCY_MILLISECONDS)
    const stalls = await page.evaluate<number[]>('stalls')
    expect(stalls.filter(each => !isExplained(each))).toEqual([])
    const lost = 2 + totalOf(pauses) / 1000
    expect(last.time - first.time).toBeGreaterThan(seconds - lost)
    expect(last.frames - first.frames).toBeGreaterThan((seconds - lost) * FRAMES_PER_SECOND * 0.9)
    expect(latencies.length).toBeGreaterThan(RUN_SECONDS)
    expect(most).toBeLessThan(MAX_LATENCY_MILLISECONDS)
  }, 180_000)

  test('it returns after the publisher, and reports the end of the broadcast', async () => {
    encoder.kill('SIGKILL')
    await encoder.exited
    await until(async () => /Waiting for the broadcaster/.test((await message()) ?? ''))
    encoder = publishNumbered(publishUrl)
    await untilPlaying()
    expect(await message()).toBe('')
    encoder.kill('SIGKILL')
    await encoder.exited
    await until(async () => (await message()) === 'This broadcast has ended.')
    await until(async () => (await page.textContent('.byline')) === 'Offline')
    await look(page, 'channel-ended')
  })

  test('the recording plays from where the link points to, across the gap of the reconnect, and seeks', async () => {
    await page.goto(`${server.url}/${login}`)
    await look(page, 'channel-offline')
    await page.click('.videos .card a')
    const video = page.url()
    await page.goto(`${video}?t=0h0m4s`)
    // The script that listens to keys is loaded after the page.
    await page.waitForSelector('[data-part=bar]:not([hidden])')
    await look(page, 'video-idle')
    await page.evaluate(`(() => {
      const video = document.querySelector('video')
      video.addEventListener('playing', () => { window.startedAt = video.currentTime }, { once: true })
      video.addEventListener('seeked', () => { window.soughtTo = video.currentTime })
    })()`)
    await page.keyboard.press('k')
    await untilPlaying()
    expect(Math.abs((await page.evaluate<number>('window.startedAt')) - 4)).toBeLessThan(1)
    await look(page, 'video-playing')
    const length = await page.evaluate<number>('document.querySelector("video").duration')
    expect(length).toBeGreaterThan(RUN_SECONDS)
    const ranges: number[] = []
    page.on('response', response => {
      if (response.url().endsWith('.flv')) ranges.push(response.status())
    })
    // The first one lies behind what is loaded in advance, and in the part of the second publisher.
    for (const target of [Math.floor(length) - 6, 20, 2]) {
      await page.evaluate(`(() => {
        const slider = document.querySelector('[data-part=seek]')
        slider.value = ${target}
        slider.dispatchEvent(new Event('change'))
      })()`)
      await until(() => page.evaluate<boolean>(`Math.abs(window.soughtTo - ${target}) < 1`))
      await untilPlaying()
      if (target > 20) continue
      const { time, number } = await shown()
      expect([target, Math.abs(number / FRAMES_PER_SECOND - time) < 1]).toEqual([target, true])
    }
    expect(ranges).toContain(206)
    await page.keyboard.press('ArrowRight')
    await until(async () => (await shown()).time > 7)
    await page.evaluate(`document.querySelector('video').currentTime = ${length} - 4`)
    await until(() => page.evaluate<boolean>('document.querySelector("video").ended'))
    await until(async () => (await state()) === 'idle')
  })

  test('no error in the console, no violated policy, no other host', () => {
    expect(violations).toEqual([])
  })
})
