/**
 * Watching what the embedded media server packages, in a real browser: ffmpeg publishes with a key frame every two seconds, and
 * the page of the channel plays it, directly and through an nginx with the cache of deploy/. Latency is measured on the pixels:
 * every picture carries its number, and the playlist has the time at which the server got it.
 *
 * TEST_WATCH_SECONDS=60 watches longer.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { Lateness } from '../support/browser/lateness.ts'
import { openWatched } from '../support/browser/watched-page.ts'
import { type BroadcastChannel, BroadcastServer, until } from '../support/media/broadcasts.ts'
import { hasEncoder } from '../support/media/encoder.ts'
import { HlsPlayer } from '../support/media/hls.ts'
import {
  FRAMES_PER_SECOND,
  publishNumbered,
  readArrival,
  SHOWN_NUMBER,
} from '../support/media/numbered-video.ts'
import { type ProxyProcess, pathOfProxy, startCache } from '../support/proxies/proxy-process.ts'

const RUN_SECONDS = Number(process.env.TEST_WATCH_SECONDS ?? 10)
const OPENINGS = 3
const MAX_FIRST_MILLISECONDS = 1500
const MAX_LATENCY_MILLISECONDS = 2500
/** Nothing plays without a stall while the machine has no time for the page for so long. */
const PAUSE_MILLISECONDS = 500

/** What was measured, for those who read the output. */
const note = (line: string) => process.stdout.write(`[live] ${line}\n`)

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

describe.skipIf(!hasBrowser || !hasEncoder)('a broadcast of ffmpeg in a real browser', () => {
  let server: BroadcastServer
  let cache: ProxyProcess | undefined
  let browser: Browser
  let channel: BroadcastChannel
  let encoder: Bun.Subprocess
  /** When the server got the picture with number 0. */
  let arrivedAt: number

  beforeAll(async () => {
    server = await BroadcastServer.start('sqlite', () => ({ STRAND_RECORD: 'off' }))
    if (pathOfProxy.nginx !== undefined) cache = await startCache(Number(new URL(server.url).port))
    channel = await server.newChannel()
    encoder = publishNumbered(server.ingestUrl(channel.key))
    browser = await launchBrowser()
    const player = await HlsPlayer.open(server.url, channel.login)
    arrivedAt = await readArrival(player)
  })
  afterAll(async () => {
    encoder?.kill('SIGKILL')
    await browser?.close()
    await cache?.stop()
    await server?.remove()
  })

  test.skipIf(pathOfProxy.nginx === undefined)(
    '100 viewers behind the cache are one request at the node',
    async () => {
      const player = await HlsPlayer.open(cache?.url ?? '', channel.login)
      const count = async (file: string) => {
        const answers = await Promise.all(Array.from({ length: 100 }, () => player.get(file)))
        await Promise.all(answers.map(answer => answer.bytes()))
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
        return answers.filter(({ headers }) => headers.get('x-cache-status') !== 'HIT').length
      }
      // A playlist that waits for a part, with queries that make no other answer, and a part that waits for itself.
      const { segments, hint } = await player.playlist()
      const { sequence = 0 } = segments.findLast(({ uri }) => uri !== undefined) ?? {}
      const counts = await Promise.all([
        count(`index.m3u8?_HLS_msn=${sequence + 2}&other=${Math.random()}`),
        count(hint ?? ''),
      ])
      expect(counts).toEqual([1, 1])
    },
  )

  const ways = { directly: () => server.url, 'through nginx with a cache': () => cache?.url ?? '' }
  for (const [way, url] of Object.entries(ways))
    describe.skipIf(way !== 'directly' && pathOfProxy.nginx === undefined)(way, () => {
      let page: Page
      let violations: string[]
      const number = () => page.evaluate<number>(SHOWN_NUMBER)

      test(`the first picture is there within ${MAX_FIRST_MILLISECONDS} ms`, async () => {
        ;({ page, violations } = await openWatched(browser, url()))
        // The page reports by itself when it shows a picture; the clock of a document starts when it is asked for.
        await page.addInitScript(
          `addEventListener('loadeddata', () => console.debug('picture', performance.now()), true)`,
        )
        const times: number[] = []
        for (let opening = 0; opening < OPENINGS; opening++) {
          const shown = page.waitForEvent('console', each => each.text().startsWith('picture'))
          await page.goto(`${url()}/${channel.login}`)
          times.push(Number((await shown).text().split(' ')[1]))
        }
        note(`${way}: first picture after ${times.map(Math.round).join(', ')} ms`)
        // The shortest is what it takes, without what else the machine does.
        expect(Math.min(...times)).toBeLessThan(MAX_FIRST_MILLISECONDS)
      })

      test(`it plays ${RUN_SECONDS} s without a stall, ${MAX_LATENCY_MILLISECONDS} ms behind the server`, async () => {
        await until(number, each => each > 0)
        await page.evaluate(
          `window.stalls = []; document.querySelector('video').onwaiting = () => stalls.push(Date.now())`,
        )
        const lateness = await Lateness.of(page)
        const began = performance.now()
        const latencies: number[] = []
        while (performance.now() - began < RUN_SECONDS * 1000) {
          await Bun.sleep(250)
          latencies.push(Date.now() - (arrivedAt + (1000 * (await number())) / FRAMES_PER_SECOND))
        }
        const pauses = (await lateness.stop()).filter(({ milliseconds }) => milliseconds > PAUSE_MILLISECONDS)
        const isExplained = (stall: number) =>
          pauses.some(({ at }) => Math.abs(stall - at) < 2 * MAX_LATENCY_MILLISECONDS)
        const stalls = await page.evaluate<number[]>('stalls')
        note(
          `${way}: ${latencies.length} samples from server to screen: median ${Math.round(median(latencies))} ms, most ${Math.round(Math.max(...latencies))} ms; ${stalls.length} stalls, ${pauses.length} pauses of the machine`,
        )
        expect(stalls.filter(each => !isExplained(each))).toEqual([])
        expect(median(latencies)).toBeLessThan(MAX_LATENCY_MILLISECONDS)
        expect(violations).toEqual([])
        await page.close()
      }, 120_000)
    })
})
