/** The demo as it is started from a shell, without ffmpeg on its path: played by ffmpeg and by a real browser. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { FRAGMENTS, repeatClip } from '../../src/demo/clip.ts'
import { CLIP_NAMES, loadClip } from '../../src/demo/clips.ts'
import { MOVING_SCENES } from '../../src/images/moving/moving-scenes.ts'
import { rasterize } from '../../src/images/raster.ts'
import { drawMovingScene, type MovingScene } from '../../src/images/scene.ts'
import { hasBrowser, launchBrowser } from '../support/browser/browser.ts'
import { openWatched, type WatchedPage } from '../support/browser/watched-page.ts'
import { endAllProcesses, StrandProcess } from '../support/cli/strand-process.ts'
import { hasEncoder, pictureAt } from '../support/media/encoder.ts'
import { until } from '../support/media/live-strand.ts'

const { TEST_FFMPEG = '' } = process.env
const FOLDER = join(import.meta.dir, '../../src/demo/clips')
const SIZE = { width: 640, height: 360 }

interface Live {
  readonly user_id: string
  readonly user_login: string
}

let url = ''
let live: Live[] = []
beforeAll(async () => {
  const words = ['demo', '--port', '0', '--json', '--streams', '60']
  const demo = new StrandProcess(words, { environment: { PATH: '/nonexistent' } })
  const line = await demo.until(({ stdout }) => stdout.endsWith('\n') && stdout)
  url = JSON.parse(line).base_url
  live = (await (await fetch(`${url}/helix/streams?first=100`)).json()).data
})
afterAll(endAllProcesses)

/** How far the pixels of two pictures are apart on average, of 255. */
function difference(one: Uint8Array, other: Uint8Array): number {
  expect(one.length).toBe(other.length)
  return one.reduce((sum, byte, at) => sum + Math.abs(byte - (other[at] as number)), 0) / one.length
}

async function drawn(scene: MovingScene, moment: number): Promise<Uint8Array> {
  const { palette, rows } = await rasterize(
    drawMovingScene(scene, moment),
    SIZE.width,
    SIZE.height,
    async () => {},
  )
  const indices = rows.filter((_, at) => at % (SIZE.width + 1) !== 0)
  return Uint8Array.from({ length: indices.length * 3 }, (_, at) => {
    const entry = indices[Math.floor(at / 3)] as number
    return palette[entry * 3 + (at % 3)] as number
  })
}

describe.skipIf(!hasEncoder)('a clip', () => {
  test('shows its scene, as cards do: if this fails, run npm run clips and commit the result', async () => {
    for (const name of CLIP_NAMES) {
      const scene = MOVING_SCENES[name] as MovingScene
      for (const seconds of [0, 3, 8]) {
        const picture = await pictureAt(join(FOLDER, `${name}.mp4`), seconds, 'read')
        const [right, wrong] = [await drawn(scene, seconds / 12), await drawn(scene, (seconds + 2) / 12)]
        expect(difference(picture, right)).toBeLessThan(4)
        expect(difference(picture, right)).toBeLessThan(difference(picture, wrong))
      }
    }
  })

  test('no step can be heard where it begins again', async () => {
    for (const name of CLIP_NAMES) {
      // As a broadcast repeats it: the decoder continues.
      const clip = await loadClip(name)
      const twice = Buffer.concat([clip.init, repeatClip(clip, 0, 2 * FRAGMENTS)])
      const words = ['-v', 'error', '-i', 'pipe:0', '-vn', '-ac', '1', '-f', 's16le', 'pipe:1']
      const child = Bun.spawn([TEST_FFMPEG, ...words], { stdin: twice, stdout: 'pipe', stderr: 'inherit' })
      const samples = new Int16Array((await child.stdout.bytes()).buffer)
      const steps = (from: number, to: number) => {
        let most = 0
        for (let at = from; at < to; at++)
          most = Math.max(most, Math.abs((samples[at] as number) - (samples[at - 1] as number)))
        return most
      }
      const loop = 12 * 32_000
      expect(samples.length).toBe(2 * loop)
      expect(steps(loop - 2048, loop + 2048)).toBeLessThanOrEqual(1.5 * steps(loop + 4096, 2 * loop - 4096))
      // Quiet, and not silent.
      const loudest = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)
      expect(loudest).toBeWithin(800, 8000)
    }
  })
})

describe.skipIf(!hasEncoder)('ffmpeg', () => {
  /** What it prints, and how many pictures it has decoded. */
  async function play(path: string) {
    const command = ['-v', 'error', '-xerror', '-progress', 'pipe:1', '-i', url + path]
    const child = Bun.spawn([TEST_FFMPEG, ...command, '-t', '30', '-f', 'null', '-'], {
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [progress, errors] = await Promise.all([child.stdout.text(), child.stderr.text()])
    const frames = Number(progress.match(/frame=(\d+)\n(?![\s\S]*frame=)/)?.[1])
    return { code: await child.exited, errors, frames }
  }

  test('plays 30 s of a live channel across two loops without a message', async () => {
    expect(await play(`/live/${live[0]?.user_login}.m3u8`)).toEqual({ code: 0, errors: '', frames: 450 })
  })

  // It cannot seek in fragmented MP4 by HLS, not even in what it has made.
  test('plays 30 s of a video without a message', async () => {
    const page = await (await fetch(`${url}/${live[0]?.user_login}`)).text()
    const ids = [...page.matchAll(/\/videos\/(\d+)/g)].map(([, id]) => id)
    expect(await play(`/videos/${ids.at(-1)}.m3u8`)).toEqual({ code: 0, errors: '', frames: 450 })
  })
})

describe.skipIf(!hasBrowser)('a real browser', () => {
  let browser: Browser
  let watched: WatchedPage
  let page: Page
  beforeAll(async () => {
    browser = await launchBrowser()
    watched = await openWatched(browser, url)
    page = watched.page
  })
  afterAll(() => browser?.close())

  const shown = () =>
    page.evaluate<{ time: number; frames: number; width: number }>(`(() => {
      const video = document.querySelector('video')
      return {
        time: video.currentTime,
        frames: video.getVideoPlaybackQuality().totalVideoFrames,
        width: video.videoWidth,
      }
    })()`)

  test('the page of a channel shows pictures that move, across a loop', async () => {
    await page.goto(`${url}/${live[0]?.user_login}`)
    const before = await until(shown, ({ frames }) => frames > 0)
    const after = await until(shown, ({ time }) => time > before.time + 14)
    expect(after.frames - before.frames).toBeGreaterThan(100)
    expect(after.width).toBe(640)
  })

  test('so do the pages of other channels, with other scenes', async () => {
    for (const { user_login } of live.slice(1, 9)) {
      await page.goto(`${url}/${user_login}`)
      const before = await until(shown, ({ frames }) => frames > 0)
      const after = await until(shown, ({ time }) => time > before.time + 0.5)
      expect(after.frames).toBeGreaterThan(before.frames)
    }
  })

  test('hls.js on a page of another site plays a video, from its middle and up to its end', async () => {
    const channel = await (await fetch(`${url}/${live[0]?.user_login}`)).text()
    const source = `${url}/videos/${[...channel.matchAll(/\/videos\/(\d+)/g)].at(-1)?.[1]}.m3u8`
    const lines = await (await fetch(source)).text()
    const seconds = [...lines.matchAll(/#EXTINF:([0-9.]+)/g)].reduce((sum, [, each]) => sum + Number(each), 0)
    const script = await Bun.file('node_modules/hls.js/dist/hls.light.min.js').text()
    const html = `<!doctype html><link rel="icon" href="data:,"><video muted autoplay></video><script>${script}</script><script>
      const hls = new Hls({ startPosition: ${seconds / 2} })
      hls.loadSource('${source}')
      hls.attachMedia(document.querySelector('video'))
    </script>`
    using site = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: () => new Response(html, { headers: { 'Content-Type': 'text/html; charset=utf-8' } }),
    })
    page = await browser.newPage()
    await page.goto(site.url.href)
    const before = await until(shown, ({ frames }) => frames > 0)
    expect(before.time).toBeGreaterThanOrEqual(seconds / 2)
    await until(shown, ({ time }) => time > before.time + 1)
    expect(await page.evaluate('document.querySelector("video").duration')).toBeCloseTo(seconds, 1)
    await page.evaluate(`document.querySelector('video').currentTime = ${seconds - 3}`)
    await until(() => page.evaluate<boolean>('document.querySelector("video").ended'), Boolean)
  })

  test('no error in the console, no violated policy, no other host', () => {
    expect(watched.violations).toEqual([])
  })
})
