/**
 * Watching HLS in a real browser: ffmpeg publishes to the real nginx-rtmp, with the configuration that `strand media add`
 * prints, and the page of the channel plays what nginx packages, from another origin.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { openWatched, type WatchedPage } from '../support/browser/watched-page.ts'
import { Encoders, hasEncoder } from '../support/media/encoder.ts'
import { answers, type LiveChannel, LiveStrand, until } from '../support/media/live-strand.ts'
import { hasNginxRtmp, NginxRtmp } from '../support/media/nginx-rtmp.ts'
import { freePort } from '../support/store/postgres.ts'

const canRun = hasBrowser && hasEncoder && hasNginxRtmp

describe.skipIf(!canRun)('HLS of another media server in a real browser', () => {
  const encoders = new Encoders('testsrc=size=320x180:rate=10')
  let strand: LiveStrand
  let channel: LiveChannel
  let nginx: NginxRtmp
  let browser: Browser
  let watched: WatchedPage
  let other: WatchedPage
  let page: Page
  let playlist: string
  let encoder: Bun.Subprocess

  const publish = () => encoders.publish(`rtmp://127.0.0.1:${nginx.rtmpPort}/live/${channel.key}`)
  const address = () => `${strand.url}/${channel.login}`
  const message = () => page.textContent('[data-part=message]')
  const state = () => page.evaluate<string>('document.querySelector("[data-player]").dataset.state')
  const shown = () =>
    page.evaluate<{ time: number; frames: number }>(`(() => {
      const video = document.querySelector('video')
      return { time: video.currentTime, frames: video.getVideoPlaybackQuality().totalVideoFrames }
    })()`)

  /** Resolves when the video moves on and shows new pictures. */
  async function untilPlaying(): Promise<void> {
    await until(state, each => each === 'playing')
    const before = await shown()
    await until(shown, ({ time, frames }) => time > before.time + 0.5 && frames > before.frames + 3)
  }

  beforeAll(async () => {
    await encoders.prepare()
    strand = await LiveStrand.start('sqlite', 60)
    channel = await strand.channel('1000', 'lunar_otter')
    const [apiPort, hlsPort] = [await freePort(), await freePort()]
    const template = `http://127.0.0.1:${hlsPort}/hls/{login}.m3u8`
    playlist = template.replace('{login}', channel.login)
    const api = ['--api-url', `http://127.0.0.1:${apiPort}`]
    const recordings = ['--recordings-url', `http://127.0.0.1:${hlsPort}/recordings`]
    const words = [...api, ...recordings, '--playback-url', template]
    const added = await strand.command('media', 'add', 'nginx-rtmp', 'edge', ...words)
    expect(added.code).toBe(0)
    // Shorter than in real life, so that the test is.
    const configuration = added.stdout.replace('hls_fragment 2s', 'hls_fragment 1s')
    nginx = await NginxRtmp.prepare(configuration, hlsPort)
    nginx.start()
    await until(() => answers(`http://127.0.0.1:${apiPort}/stat`), Boolean)
    browser = await launchBrowser()
    // The playlist is not there until the first segment is.
    watched = await openWatched(browser, strand.url, /status of 404/)
    page = watched.page
  })
  afterAll(async () => {
    await browser?.close()
    await encoders.remove()
    await nginx?.remove()
    await strand?.remove()
  })

  test('it plays as soon as the playlist is there', async () => {
    let absences = 2
    const isAbsent = { status: 404, headers: { 'Access-Control-Allow-Origin': '*' } }
    await page.route(playlist, route => (absences-- > 0 ? route.fulfill(isAbsent) : route.continue()))
    encoder = publish()
    await channel.untilLive()
    await page.goto(address())
    await until(message, each => each === 'Waiting for the broadcaster…')
    await untilPlaying()
    expect(await message()).toBe('')
    await page.unroute(playlist)
  })

  test('a pause disconnects, and play continues with what is live then', async () => {
    await page.keyboard.press('k')
    expect(await state()).toBe('idle')
    const asked: string[] = []
    page.on('request', request => asked.push(request.url()))
    await page.keyboard.press('k')
    await untilPlaying()
    expect(asked).toContain(playlist)
  })

  test('a browser that plays HLS itself needs no library', async () => {
    other = await openWatched(browser, strand.url)
    await other.page.addInitScript('delete window.MediaSource; delete window.ManagedMediaSource')
    await other.page.goto(address())
    const time = () => other.page.evaluate<number>('document.querySelector("video").currentTime')
    const before = await until(time, each => each > 0)
    await until(time, each => each > before + 0.5)
    expect(await other.page.evaluate('document.querySelector("video").currentSrc')).toBe(playlist)
    const scripts = await other.page.evaluate<number[]>(
      `performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('.js')).map(each => each.encodedBodySize)`,
    )
    expect([scripts.length > 3, Math.max(...scripts) < 50_000]).toEqual([true, true])
  })

  test('both viewers are counted', async () => {
    const counted = await until(
      () => channel.stream(),
      each => each?.viewer_count === 2,
    )
    expect(counted?.user_id).toBe(channel.id)
    await other.page.close()
  })

  test('it waits while the publisher is away, without playing the end again, and returns with it', async () => {
    encoder.kill('SIGKILL')
    await encoder.exited
    await until(message, each => each === 'Waiting for the broadcaster…')
    expect(await answers(playlist)).toBe(true)
    encoder = publish()
    await untilPlaying()
    expect(await message()).toBe('')
  })

  test('no error in the console, no violated policy, no host but the server and the media server', () => {
    const violations = [...watched.violations, ...other.violations]
    const isExpected = (each: string) => each.startsWith(`asked ${new URL(playlist).origin}/hls/`)
    expect(violations.filter(each => !isExpected(each))).toEqual([])
    expect(violations.some(isExpected)).toBe(true)
  })
})
